package io.github.lockredis.spring.boot2;

import io.github.lockredis.spring.demo.Shop;
import io.github.lockredis.spring.demo.ShopBehaviour;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** The demo application, with its configuration for production. */
@SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.RANDOM_PORT)
@AutoConfigureLockredis
class ShopTest extends ShopBehaviour {
}
