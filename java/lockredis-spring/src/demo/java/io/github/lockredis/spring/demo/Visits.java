package io.github.lockredis.spring.demo;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.WebRequest;

/** Counts the visits of a session. Spring Session keeps the session in Redis. */
@RestController
class Visits {
    @GetMapping("/visits")
    String visit(WebRequest request) {
        Object before = request.getAttribute("visits", RequestAttributes.SCOPE_SESSION);
        int visits = before == null ? 1 : (Integer) before + 1;
        request.setAttribute("visits", visits, RequestAttributes.SCOPE_SESSION);
        return Integer.toString(visits);
    }
}
