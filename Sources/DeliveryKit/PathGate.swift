import BackgroundDelivery

/// Asks the host to report the machine's network path, now and whenever it changes.
package struct WatchPath: Sendable { package init() {} }

/// What the host reports about the path.
package enum PathNews: Sendable {
    case path(NetworkPath)
    /// The path can't be determined on this machine, so nothing waits for one; the text gives the reason.
    case unknown(String)
}

/// Whether there is a path to the backend. A path doesn't prove that there is an Internet connection: it justifies an
/// attempt, and only an answer proves more.
struct PathGate: Equatable {
    /// False for a backend on this machine, which needs none.
    let needsPath: Bool
    var machine: NetworkPath?
    /// What a simulator or companion says about the phone's network takes precedence over the machine's own.
    var device: NetworkPath?

    var path: NetworkPath? { device ?? machine }

    var isOpen: Bool {
        if let device { return device.isSatisfied }
        return !needsPath || machine?.isSatisfied ?? true
    }
}
