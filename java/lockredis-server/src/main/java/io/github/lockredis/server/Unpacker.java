package io.github.lockredis.server;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import java.util.zip.CRC32;

/**
 * Unpacks an executable into a folder. Several JVMs may do so at once: each writes a file of its own
 * and moves it to the final name, and the move is atomic. So a file with that name is complete.
 */
final class Unpacker {
    /** How many names are tried when a file with another content has the name. */
    private static final int NAMES = 8;

    private Unpacker() {
    }

    /** Returns the executable in the folder, unpacked now or earlier, with the right content. */
    static Path unpack(Resource resource, Path folder) throws IOException {
        for (int i = 0; i < NAMES; i++) {
            String name = resource.hash.substring(0, 16) + "-" + resource.platform + (i == 0 ? "" : "-" + i);
            Path file = folder.resolve(name).resolve(resource.file);
            makePrivate(folder);
            makePrivate(file.getParent());
            boolean unpacked = !Files.exists(file) && write(resource, file);
            checkOwner(folder, file.getParent(), file);
            if (unpacked || isWhole(new FileInputStream(file.toFile()), null, resource)) {
                makeExecutable(file);
                return file;
            }
            // Another content. It is not overwritten: a process may run it.
        }
        throw new IOException("has " + NAMES + " files with another content than lockredis "
                + resource.version);
    }

    /** Makes a folder that only this user may enter, or checks one that is there. */
    private static void makePrivate(Path folder) throws IOException {
        boolean posix = folder.getFileSystem().supportedFileAttributeViews().contains("posix");
        if (Files.isDirectory(folder)) {
            if (posix && writableByOthers(Files.getPosixFilePermissions(folder))) {
                throw new IOException("other users may write to it");
            }
            return;
        }
        if (folder.getParent() != null) {
            Files.createDirectories(folder.getParent());
        }
        try {
            if (posix) {
                Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(
                        PosixFilePermissions.fromString("rwx------")));
            } else {
                Files.createDirectory(folder);
            }
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) { // a file, or a link to nothing
                throw e;
            }
            makePrivate(folder); // made by another JVM at the same time
        }
    }

    private static boolean writableByOthers(Set<PosixFilePermission> permissions) {
        return permissions.contains(PosixFilePermission.GROUP_WRITE)
                || permissions.contains(PosixFilePermission.OTHERS_WRITE);
    }

    /** Writes the file. Returns false when another JVM has made it, which needs a check. */
    private static boolean write(Resource resource, Path to) throws IOException {
        Path temporary = Files.createTempFile(to.getParent(), ".unpacking", null);
        try {
            try (OutputStream out = new FileOutputStream(temporary.toFile())) {
                if (!isWhole(resource.open(), out, resource)) {
                    throw new IOException(
                            "the executable in the jar is not the one of its description");
                }
            }
            makeExecutable(temporary);
            return move(temporary, to);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /**
     * Fails when another user owns one of the files. In a temporary folder that all users share,
     * another user may have made them. A user's own cache is not asked: it may be read-only.
     */
    private static void checkOwner(Path folder, Path... inside) throws IOException {
        if (!folder.getParent().equals(Executables.temporary())) {
            return;
        }
        Path own = Files.createTempFile(folder.getParent(), "lockredis", null);
        try {
            UserPrincipal user = Files.getOwner(own);
            checkOwner(user, folder);
            for (Path file : inside) {
                checkOwner(user, file);
            }
        } finally {
            Files.delete(own);
        }
    }

    private static void checkOwner(UserPrincipal user, Path file) throws IOException {
        UserPrincipal owner = Files.getOwner(file, LinkOption.NOFOLLOW_LINKS);
        if (!owner.equals(user)) {
            throw new IOException(file + " belongs to the user " + owner.getName());
        }
    }

    private static boolean move(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (AtomicMoveNotSupportedException e) {
            throw e;
        } catch (IOException e) {
            // On Windows another JVM may have moved its file there and run it by now.
            if (!Files.exists(to)) {
                throw e;
            }
            return false;
        }
    }

    private static void makeExecutable(Path file) throws IOException {
        if (Files.isExecutable(file)) {
            return;
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    /**
     * Reads to the end, copies to out unless it is null, and reports whether the content is the
     * resource's. It compares the size and the CRC-32. SHA-256 of the same bytes takes a new JVM
     * 70 ms and the compiler's threads 200 ms more. It would find more only if an attacker wrote to
     * the file. No other user may write there: see makePrivate and checkOwner.
     */
    private static boolean isWhole(InputStream content, OutputStream out, Resource resource)
            throws IOException {
        CRC32 checksum = new CRC32();
        long size = 0;
        try (InputStream in = content) {
            byte[] buffer = new byte[1 << 18];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                checksum.update(buffer, 0, n);
                size += n;
                if (out != null) {
                    out.write(buffer, 0, n);
                }
            }
        }
        return size == resource.size && checksum.getValue() == resource.checksum;
    }
}
