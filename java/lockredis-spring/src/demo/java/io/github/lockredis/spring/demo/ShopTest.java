package io.github.lockredis.spring.demo;

import io.github.lockredis.spring.AutoConfigureLockredis;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** The demo application, with its configuration for production. */
@SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.RANDOM_PORT)
@AutoConfigureLockredis
class ShopTest extends ShopBehaviour {
}
