import Glibc

/// The hub's two well-known endpoints.
public struct BusAddress: Sendable, Equatable {
    /// Where publishers connect (the hub's XSUB).
    public var publish: String
    /// Where subscribers connect (the hub's XPUB).
    public var subscribe: String

    public init(publish: String, subscribe: String) {
        self.publish = publish
        self.subscribe = subscribe
    }

    /// Unix sockets in a folder (0700): the rights of the folder are the rights of the bus.
    public init(folder: String) {
        self.init(publish: "ipc://\(folder)/pub", subscribe: "ipc://\(folder)/sub")
    }

    /// Takes away the files of its Unix sockets, which a hub that was killed leaves behind. For whoever knows that no hub runs there.
    public func removeSocketFiles() {
        for address in [publish, subscribe] where address.hasPrefix("ipc://") { unlink(String(address.dropFirst(6))) }
    }
}
