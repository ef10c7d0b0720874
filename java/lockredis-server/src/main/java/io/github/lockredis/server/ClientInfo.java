package io.github.lockredis.server;

/** A client's connection, as the server knows it. */
public final class ClientInfo {
    private final long id;
    private final String name;
    private final String address;

    ClientInfo(Fields fields) {
        id = fields.number("client-id");
        name = fields.text("client-name");
        address = fields.text("client-addr");
    }

    /** Returns the id, as CLIENT ID tells it. -1: unknown. */
    public long id() {
        return id;
    }

    /** Returns the name, as CLIENT SETNAME has set it. "": none, or unknown. */
    public String name() {
        return name;
    }

    /** Returns the address: 127.0.0.1:50122. "": unknown. */
    public String address() {
        return address;
    }

    /** Reports whether the server knows the connection. */
    public boolean isKnown() {
        return id >= 0 || !address.isEmpty();
    }

    @Override
    public String toString() {
        if (!isKnown()) {
            return "unknown client";
        }
        StringBuilder text = new StringBuilder("client");
        if (id >= 0) {
            text.append(" id=").append(id);
        }
        if (!name.isEmpty()) {
            text.append(" name=").append(name);
        }
        return address.isEmpty() ? text.toString() : text.append(" addr=").append(address).toString();
    }
}
