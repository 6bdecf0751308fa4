import Glibc

/// The hub's two well-known endpoints, the keys for them if the bus is sealed, and which senders are trusted there.
package struct BusAddress: Sendable, Equatable {
    /// Where publishers connect.
    package var publish: String
    /// Where subscribers connect.
    package var subscribe: String
    /// How this process proves its identity; nil on a bus that asks for no proof: Unix sockets in a folder.
    package var seal: BusSeal?
    /// Whose messages count for this process; nil for a process that accepts every message.
    package var trust: BusTrust?

    package init(publish: String, subscribe: String, seal: BusSeal? = nil, trust: BusTrust? = nil) {
        (self.publish, self.subscribe, self.seal, self.trust) = (publish, subscribe, seal, trust)
    }

    /// Unix sockets in a folder (0700): access to the folder is access to the bus.
    package init(folder: String) {
        self.init(publish: "ipc://\(folder)/pub", subscribe: "ipc://\(folder)/sub")
    }

    /// Removes the files of the address's Unix sockets, which a killed hub leaves behind. This is only for callers that
    /// are certain that no hub is running at this address.
    package func removeSocketFiles() {
        for address in [publish, subscribe] where address.hasPrefix("ipc://") { unlink(String(address.dropFirst(6))) }
    }
}
