package lockredis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBinaryStream;
import org.redisson.api.RSortedSet;

/** Bytes as streams and channels, and the sorted set that clients sort. */
class BinaryStreamTest extends Family {
    @Test
    void bytesAreWrittenAndReadInPieces() throws Exception {
        RBinaryStream stream = client.getBinaryStream(key);
        byte[] bytes = new byte[300_000];
        new Random(1).nextBytes(bytes);
        OutputStream out = stream.getOutputStream();
        out.write(bytes, 0, 100_000);
        out.write(bytes, 100_000, 200_000);
        assertEquals(300_000, stream.size());
        InputStream in = stream.getInputStream();
        assertEquals(7, in.skip(7));
        assertEquals(bytes[7] & 0xff, in.read());
        byte[] rest = in.readAllBytes();
        assertEquals(299_992, rest.length);
        assertEquals(bytes[299_999], rest[299_991]);
        assertArrayEquals(bytes, stream.get());
        SeekableByteChannel channel = stream.getChannel();
        channel.position(10).write(ByteBuffer.wrap(new byte[]{1, 2, 3}));
        ByteBuffer read = ByteBuffer.allocate(4);
        channel.position(9).read(read);
        assertArrayEquals(new byte[]{bytes[9], 1, 2, 3}, read.array());
        channel.truncate(12);
        assertEquals(12, stream.size());
        stream.delete();
        assertFalse(stream.isExists());
    }

    @Test
    void sortedSetKeepsItsOrder() {
        RSortedSet<Integer> set = client.getSortedSet(key);
        set.addAll(List.of(5, 1, 9, 1));
        assertEquals(List.of(1, 5, 9), List.copyOf(set.readAll()));
        assertFalse(set.add(5));
        assertEquals(1, set.first());
        assertEquals(9, set.last());
        set.remove(5);
        assertEquals(2, set.size());
        set.delete();
    }
}
