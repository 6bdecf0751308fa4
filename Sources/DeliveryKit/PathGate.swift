import BackgroundDelivery

/// Asks the host to tell of the machine's network path, now and whenever it changes.
package struct WatchPath: Sendable { package init() {} }

/// What it tells.
package enum PathNews: Sendable {
    case path(NetworkPath)
    /// It can't be told on this machine, with the reason: nothing waits for a path then.
    case unknown(String)
}

/// Whether there is a way to the backend. A path isn't the Internet: with one it is tried, and only an answer proves more.
struct PathGate: Equatable {
    /// False for a backend on this machine, which needs none.
    let needsPath: Bool
    var machine: NetworkPath?
    /// What a simulator or companion says of the phone's network goes before the machine's own.
    var device: NetworkPath?

    var path: NetworkPath? { device ?? machine }

    var isOpen: Bool {
        if let device { return device.isSatisfied }
        return !needsPath || machine?.isSatisfied ?? true
    }
}
