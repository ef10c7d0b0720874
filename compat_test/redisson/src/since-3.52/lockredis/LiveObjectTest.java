package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.redisson.api.RCascadeType;
import org.redisson.api.RLiveObjectService;
import org.redisson.api.RMap;
import org.redisson.api.annotation.RCascade;
import org.redisson.api.annotation.REntity;
import org.redisson.api.annotation.RId;
import org.redisson.api.annotation.RIndex;
import org.redisson.api.condition.Conditions;
import org.redisson.liveobject.resolver.UUIDGenerator;

/** Objects whose fields are on the server, and their indexes. */
class LiveObjectTest extends Family {
    @REntity
    public static class Owner {
        @RId
        private String id;
        private String city;

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        public String getCity() {
            return city;
        }

        public void setCity(String city) {
            this.city = city;
        }
    }

    @REntity
    public static class Job {
        @RId
        private String id;
        @RIndex
        private String state;
        @RIndex
        private Integer weight;
        @RCascade(RCascadeType.ALL)
        private Owner owner;
        private List<String> steps;

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        public String getState() {
            return state;
        }

        public void setState(String state) {
            this.state = state;
        }

        public Integer getWeight() {
            return weight;
        }

        public void setWeight(Integer weight) {
            this.weight = weight;
        }

        public Owner getOwner() {
            return owner;
        }

        public void setOwner(Owner owner) {
            this.owner = owner;
        }

        public List<String> getSteps() {
            return steps;
        }

        public void setSteps(List<String> steps) {
            this.steps = steps;
        }
    }

    @REntity
    public static class Named {
        @RId(generator = UUIDGenerator.class)
        private String id;
        private Integer n;

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }

        public Integer getN() {
            return n;
        }

        public void setN(Integer n) {
            this.n = n;
        }
    }

    private final RLiveObjectService objects = client.getLiveObjectService();

    private Job job(String name, String state, int weight) {
        Job job = new Job();
        job.setId(key + name);
        job.setState(state);
        job.setWeight(weight);
        return job;
    }

    private Set<String> found(Collection<Job> jobs) {
        return jobs.stream().map(job -> job.getId().substring(key.length())).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void fieldsAreOnTheServer() {
        Job plain = job("a", key + "new", 3);
        plain.setOwner(new Owner());
        plain.getOwner().setId(key + "owner");
        plain.getOwner().setCity("Bern");
        Job live = objects.persist(plain);
        assertTrue(objects.isLiveObject(live));
        assertFalse(objects.isLiveObject(plain));
        live.getOwner().setCity("Basel");
        live.setSteps(List.of("one", "two"));
        Job again = objects.get(Job.class, key + "a");
        assertEquals("Basel", again.getOwner().getCity());
        assertEquals(List.of("one", "two"), List.copyOf(again.getSteps()));
        again.getSteps().add("three");
        assertEquals(3, live.getSteps().size());
        assertThrows(RuntimeException.class, () -> objects.persist(job("a", "x", 1)));
        RMap<String, Object> map = objects.asRMap(live);
        assertEquals(3, map.get("weight"));
        Job detached = objects.detach(live);
        detached.setWeight(99);
        assertEquals(3, again.getWeight());
        objects.delete(again);
        assertFalse(objects.isExists(again));
        assertNull(objects.get(Job.class, key + "a"));
        assertNull(objects.get(Owner.class, key + "owner")); // cascaded
    }

    @Test
    void objectsAreFoundByTheirIndexes() {
        String open = key + "open";
        String done = key + "done";
        objects.persist(job("a", open, 1), job("b", open, 5), job("c", done, 9));
        assertEquals(Set.of("a", "b"), found(objects.find(Job.class, Conditions.eq("state", open))));
        assertEquals(2, objects.count(Job.class, Conditions.eq("state", open)));
        assertEquals(Set.of("b"), found(objects.find(Job.class,
                Conditions.and(Conditions.eq("state", open), Conditions.gt("weight", 1)))));
        assertEquals(Set.of("a", "c"), found(objects.find(Job.class, Conditions.and(
                Conditions.or(Conditions.eq("state", done), Conditions.eq("state", open)),
                Conditions.or(Conditions.le("weight", 1), Conditions.ge("weight", 9))))));
        objects.get(Job.class, key + "a").setState(done);
        assertEquals(Set.of("a", "c"), found(objects.find(Job.class, Conditions.in("state", done, "other"))));
        objects.delete(Job.class, key + "c", key + "b");
        assertEquals(Set.of("a"), found(objects.find(Job.class, Conditions.in("state", open, done))));
        objects.delete(Job.class, key + "a");
    }

    @Test
    void idsAreGenerated() {
        Named first = new Named();
        first.setN(1);
        Named live = objects.merge(first);
        Named second = objects.merge(new Named());
        assertNotNull(live.getId());
        assertFalse(live.getId().equals(second.getId()));
        assertEquals(1, objects.get(Named.class, live.getId()).getN());
        assertTrue(objects.asLiveObject(live).expire(java.time.Duration.ofMinutes(1)));
        assertTrue(objects.asLiveObject(live).remainTimeToLive() > 50_000);
        assertEquals(2, objects.delete(Named.class, live.getId(), second.getId()));
    }
}
