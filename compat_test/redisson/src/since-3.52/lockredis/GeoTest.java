package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.*;
import org.redisson.api.geo.*;

/** Geo sets, with the places and figures of Redis's documentation. */
class GeoTest extends Family {
    private final RGeo<String> geo = client.getGeo(key);

    @BeforeEach
    void addSicily() {
        assertEquals(2, geo.add(new GeoEntry(13.361389, 38.115556, "Palermo"),
                new GeoEntry(15.087269, 37.502669, "Catania")));
        assertEquals(1, geo.add(12.758489, 38.788135, "edge"));
    }

    @Test
    void positionsAndDistances() {
        assertEquals(166274.1516, geo.dist("Palermo", "Catania", GeoUnit.METERS));
        assertEquals(166.2742, geo.dist("Palermo", "Catania", GeoUnit.KILOMETERS));
        assertEquals(103.3182, geo.dist("Palermo", "Catania", GeoUnit.MILES));
        assertNull(geo.dist("Palermo", "Rome", GeoUnit.METERS));
        assertEquals(Map.of("Palermo", "sqc8b49rny0", "Catania", "sqdtr74hyu0"), geo.hash("Palermo", "Catania"));
        Map<String, GeoPosition> positions = geo.pos("Palermo", "Rome");
        assertEquals(Set.of("Palermo"), positions.keySet());
        assertEquals(13.36138933897018433, positions.get("Palermo").getLongitude());
        assertEquals(38.11555639549629859, positions.get("Palermo").getLatitude());
        assertEquals(3479447370796909L, geo.getScore("Catania").longValue());
    }

    @Test
    void circlesAndBoxesAreSearched() {
        assertEquals(List.of("Catania", "Palermo"), geo.search(GeoSearchArgs.from(15, 37)
                .radius(200, GeoUnit.KILOMETERS).order(GeoOrder.ASC)));
        assertEquals(List.of("edge", "Palermo"), geo.search(GeoSearchArgs.from(15, 37)
                .box(400, 400, GeoUnit.KILOMETERS).order(GeoOrder.DESC).count(2)));
        assertEquals(List.of("Palermo"), geo.search(GeoSearchArgs.from("Palermo").radius(50, GeoUnit.KILOMETERS)));
        Map<String, Double> distances = geo.searchWithDistance(GeoSearchArgs.from(15, 37)
                .radius(200, GeoUnit.KILOMETERS).order(GeoOrder.ASC));
        assertEquals(List.of("Catania", "Palermo"), new ArrayList<>(distances.keySet()));
        assertEquals(List.of(56.4413, 190.4424), new ArrayList<>(distances.values()));
        assertEquals(37.50266842333162032, geo.searchWithPosition(GeoSearchArgs.from("Catania")
                .radius(1, GeoUnit.METERS)).get("Catania").getLatitude());
        assertEquals(1, geo.search(GeoSearchArgs.from(15, 37).radius(500, GeoUnit.KILOMETERS).countAny(1)).size());
    }

    @Test
    void resultsAreStored() {
        RGeo<String> near = client.getGeo(key + ":near");
        assertEquals(2, geo.storeSearchTo(near.getName(),
                GeoSearchArgs.from(15, 37).radius(200, GeoUnit.KILOMETERS)));
        assertEquals(166274.1516, near.dist("Palermo", "Catania", GeoUnit.METERS));
        assertEquals(2, geo.storeSortedSearchTo(key + ":by", GeoSearchArgs.from(15, 37)
                .radius(200, GeoUnit.KILOMETERS)));
        RScoredSortedSet<String> by = client.getScoredSortedSet(key + ":by");
        assertEquals(List.of("Catania", "Palermo"), List.copyOf(by.readAll()));
        assertEquals(56.4413, by.getScore("Catania"), 0.0001);
    }

    @Test
    void addingMayBeConditional() {
        assertFalse(geo.tryAdd(1, 1, "Palermo"));
        assertTrue(geo.tryAdd(2.349014, 48.864716, "Paris"));
        assertFalse(geo.addIfExists(1, 1, "Rome"));
        assertTrue(geo.addIfExists(13.4, 38.1, "Palermo"));
        assertEquals(13.4, geo.pos("Palermo").get("Palermo").getLongitude(), 1e-5);
        assertTrue(geo.remove("Paris"));
        assertEquals(3, geo.size());
    }
}
