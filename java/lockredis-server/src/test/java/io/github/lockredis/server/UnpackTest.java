package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The executable comes out of its jar once, whole, and into a folder that lets it run. */
class UnpackTest {
    private final Resource resource = Resource.find(Platform.current());

    /** Returns the names of all files below a folder. */
    private static List<String> files(Path folder) throws IOException {
        try (Stream<Path> paths = Files.walk(folder)) {
            return paths.filter(Files::isRegularFile).map(p -> p.getFileName().toString())
                    .collect(Collectors.toList());
        }
    }

    @Test
    void theSecondTimeTheFileIsThere(@TempDir Path folder) throws Exception {
        Path file = Unpacker.unpack(resource, folder.resolve("home"));
        Object made = Files.getLastModifiedTime(file);
        assertEquals(file, Unpacker.unpack(resource, folder.resolve("home")));
        assertEquals(made, Files.getLastModifiedTime(file));
        assertEquals(resource.size, Files.size(file));
        assertEquals(Collections.singletonList(resource.file), files(folder));
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void theFolderIsTheUsersAlone(@TempDir Path folder) throws Exception {
        Path file = Unpacker.unpack(resource, folder.resolve("home"));
        for (Path path : Arrays.asList(file, file.getParent(), file.getParent().getParent())) {
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
        }
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThrows(IOException.class, () -> Unpacker.unpack(resource, open));
        assertEquals(1, files(folder).size());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void anotherUsersFileInTheTemporaryFolderIsNotStarted() throws Exception {
        Path file = Unpacker.unpack(resource,
                Executables.temporary().resolve("lockredis-" + System.nanoTime()));
        try {
            try {
                Files.setAttribute(file, "unix:uid", 65534);
            } catch (IOException e) {
                assumeTrue(false, "only root may give a file away");
            }
            IOException e = assertThrows(IOException.class,
                    () -> Unpacker.unpack(resource, file.getParent().getParent()));
            assertTrue(e.getMessage().contains("lockredis belongs to the user "), e.getMessage());
        } finally {
            Files.delete(file);
            Files.delete(file.getParent());
            Files.delete(file.getParent().getParent());
        }
    }

    @Test
    void aFileWithAnotherContentIsNotOverwritten(@TempDir Path folder) throws Exception {
        Path file = Unpacker.unpack(resource, folder.resolve("home"));
        byte[] other = {'o', 'l', 'd'};
        Files.write(file, other);
        Path second = Unpacker.unpack(resource, folder.resolve("home"));
        assertNotEquals(file, second);
        assertArrayEquals(other, Files.readAllBytes(file));
        assertEquals(second, Unpacker.unpack(resource, folder.resolve("home")));
    }

    @Test
    void aJarWhoseContentIsWrongIsRefused(@TempDir Path folder) throws Exception {
        Path entry = describe(folder, "0.0.1", resource.hash);
        Files.write(entry.resolveSibling("lockredis"), new byte[] {1, 2, 3});
        Resource wrong = new Resource(Platform.current().name, entry.toUri().toURL());
        IOException e = assertThrows(IOException.class,
                () -> Unpacker.unpack(wrong, folder.resolve("home")));
        assertTrue(e.getMessage().contains("not the one of its description"), e.getMessage());
        assertTrue(files(folder.resolve("home")).isEmpty());
    }

    @Test
    void twoExecutablesOnTheClassPathAreRefused(@TempDir Path folder) throws Exception {
        Path entry = describe(folder, "0.0.1", String.join("", Collections.nCopies(64, "a")));
        URL[] jar = {folder.toUri().toURL()};
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(jar, before)) {
            thread.setContextClassLoader(loader);
            LockredisException e = assertThrows(LockredisException.class,
                    () -> Resource.find(Platform.current()));
            assertTrue(e.getMessage().contains("version 0.0.1 in " + entry.toUri().toURL()),
                    e.getMessage());
            describe(folder, "0.0.1", resource.hash); // a copy does not matter
            assertEquals(resource.hash, Resource.find(Platform.current()).hash);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Writes the description of an executable of three bytes. */
    private static Path describe(Path root, String version, String hash) throws IOException {
        Path folder = root.resolve("META-INF/lockredis/" + Platform.current());
        Files.createDirectories(folder);
        return Files.write(folder.resolve("lockredis.properties"),
                Arrays.asList("version=" + version, "file=lockredis", "size=3", "sha256=" + hash));
    }

    @Test
    void eightJvmsUnpackAtOnceIntoOneFile(@TempDir Path folder) throws Exception {
        List<Child> jvms = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                jvms.add(Child.start("close", "-Dlockredis.home=" + folder.resolve("home")));
            }
            for (Child jvm : jvms) {
                assertEquals("yes", jvm.value("done"));
            }
        } finally {
            jvms.forEach(Child::close);
        }
        assertEquals(Collections.singletonList(resource.file), files(folder.resolve("home")));
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC}) // Windows deletes no executable that runs
    void aFolderThatIsDeletedMeanwhileIsUnpackedAgain(@TempDir Path folder) throws Exception {
        try (Child jvm = Child.start("delete", "-Dlockredis.home=" + folder.resolve("home"))) {
            assertEquals(jvm.value("executable"), jvm.value("again"));
            assertEquals("yes", jvm.value("done"));
        }
        assertEquals(Collections.singletonList(resource.file), files(folder));
    }

    @Test
    void aFolderThatCannotBeWrittenIsPassedOver(@TempDir Path folder) throws Exception {
        Path file = Files.createFile(folder.resolve("a-file"));
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        try (Child jvm = Child.start("close", "-Dlockredis.home=" + file.resolve("home"),
                "-Duser.home=" + file, "-Djava.io.tmpdir=" + temporary)) {
            // XDG_CACHE_HOME comes before user.home: both may be set where the test runs
            assertFalse(jvm.value("executable").startsWith(file.toString()));
            assertEquals("yes", jvm.value("done"));
        }
    }

    @Test
    void aFileInPlaceOfAFolderIsPassedOver(@TempDir Path folder) throws Exception {
        Path file = Files.createFile(folder.resolve("a-file"));
        IOException e = assertThrows(IOException.class,
                () -> Unpacker.unpack(Resource.find(Platform.current()), file));
        assertTrue(e.getMessage().contains("a-file"), e.getMessage());
        Path link = Files.createSymbolicLink(folder.resolve("a-link"), folder.resolve("nowhere"));
        assertThrows(IOException.class,
                () -> Unpacker.unpack(Resource.find(Platform.current()), link));
    }

    /** A locale that cannot encode a name makes it invalid, as the NUL does here. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void anInvalidFolderIsPassedOver() {
        List<Path> folders = Executables.folders(
                Collections.singletonMap("XDG_CACHE_HOME", "/caches/\0"));
        assertFalse(folders.toString().contains("/caches"), folders.toString());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aReadOnlyHomeIsPassedOver(@TempDir Path folder) throws Exception {
        Path home = mountPoint(folder, "ro");
        try (Child jvm = Child.startIn(folder, mounting(home, "ro"), "close",
                "-Dlockredis.home=" + home)) {
            assertFalse(jvm.value("executable").startsWith(home.toString()));
            assertEquals("yes", jvm.value("done"));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aHomeWithNoexecIsPassedOver(@TempDir Path folder) throws Exception {
        Path home = mountPoint(folder, "noexec");
        try (Child jvm = Child.startIn(folder, mounting(home, "noexec"), "close",
                "-Dlockredis.home=" + home)) {
            assertFalse(jvm.value("executable").startsWith(home.toString()));
            assertEquals("yes", jvm.value("done"));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void theErrorNamesEveryFolder(@TempDir Path folder) throws Exception {
        Path all = mountPoint(folder, "noexec");
        List<String> before = new ArrayList<>(mounting(all, "noexec"));
        before.addAll(Arrays.asList("env", "XDG_CACHE_HOME=" + all.resolve("cache")));
        try (Child jvm = Child.startIn(folder, before, "close", "-Dlockredis.home=" + all.resolve("home"),
                "-Djava.io.tmpdir=" + all)) {
            String text = jvm.rest();
            assertTrue(text.contains("no folder takes an executable. Set -Dlockredis.home=FOLDER"), text);
            for (String name : new String[] {"home", "cache", "lockredis-"}) {
                assertTrue(text.contains(all.resolve(name).toString()), text);
            }
            assertTrue(text.contains("mounted with noexec"), text);
        }
    }

    @Test
    void theChosenExecutableIsNeitherCopiedNorChecked(@TempDir Path folder) throws Exception {
        Path file = Unpacker.unpack(resource, folder.resolve("home"));
        try (Child jvm = Child.startWith(".*lockredis-server.*", "close",
                "-Dlockredis.executable=" + file)) {
            assertEquals(file.toString(), jvm.value("executable"));
            assertEquals("yes", jvm.value("done"));
        }
    }

    @Test
    void theFoldersHaveAnOrder() {
        List<Path> folders = Executables.folders(Collections.emptyMap());
        assertTrue(folders.contains(Paths.get("target/lockredis").toAbsolutePath()), "" + folders);
        int temporary = -1;
        for (int i = 0; i < folders.size(); i++) {
            if (folders.get(i).getFileName().toString().startsWith("lockredis-")) {
                temporary = i;
            }
        }
        assertTrue(temporary >= 1 && temporary < folders.size() - 1, "" + folders);
    }

    private static Path mountPoint(Path folder, String option) throws Exception {
        Path point = Files.createDirectory(folder.resolve("mounted"));
        List<String> probe = new ArrayList<>(mounting(point, option));
        probe.add("true");
        try {
            int status = new ProcessBuilder(probe).start().waitFor();
            assumeTrue(status == 0, "this user may not mount");
        } catch (IOException e) {
            assumeTrue(false, "no unshare: " + e.getMessage());
        }
        return point;
    }

    /** Returns a command that mounts an empty file system for the command after it only. */
    private static List<String> mounting(Path point, String option) {
        return Arrays.asList("unshare", "-m", "sh", "-c",
                "mount -t tmpfs -o " + option + " none '" + point + "' && exec \"$@\"", "sh");
    }
}
