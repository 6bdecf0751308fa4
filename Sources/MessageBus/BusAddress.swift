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
}
