import Glibc

/// The hub's two well-known endpoints, what opens them where the bus is sealed, and who is believed there.
package struct BusAddress: Sendable, Equatable {
    /// Where publishers connect.
    package var publish: String
    /// Where subscribers connect.
    package var subscribe: String
    /// How this process proves who it is; nil on a bus that asks nobody: Unix sockets in a folder.
    package var seal: BusSeal?
    /// Whose word counts for this process; nil for whoever hears everything as it is said.
    package var trust: BusTrust?

    package init(publish: String, subscribe: String, seal: BusSeal? = nil, trust: BusTrust? = nil) {
        self.publish = publish
        self.subscribe = subscribe
        self.seal = seal
        self.trust = trust
    }

    /// Unix sockets in a folder (0700): the rights of the folder are the rights of the bus.
    package init(folder: String) {
        self.init(publish: "ipc://\(folder)/pub", subscribe: "ipc://\(folder)/sub")
    }

    /// Takes away the files of its Unix sockets, which a hub that was killed leaves behind. For whoever knows that no hub runs there.
    package func removeSocketFiles() {
        for address in [publish, subscribe] where address.hasPrefix("ipc://") { unlink(String(address.dropFirst(6))) }
    }
}
