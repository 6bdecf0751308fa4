/// What gives an app time in the background.
package enum DeliveryStrategy: String, Sendable, CaseIterable {
    case backgroundDelivery = "background-delivery"
    case appRefresh = "app-refresh"
    case silentPush = "silent-push"
    case processing
    /// Background delivery, with app refresh and processing as a safety net.
    case combined
    /// What not to do: background delivery that sends whatever is dated since the last wake, without anchors.
    case naive

    package var wakes: [WakeKind] {
        switch self {
        case .backgroundDelivery, .naive: [.delivery]
        case .appRefresh: [.refresh]
        case .silentPush: [.push]
        case .processing: [.processing]
        case .combined: [.delivery, .refresh, .processing]
        }
    }

    /// Somebody must send the pushes.
    package var needsBackend: Bool { wakes.contains(.push) }
}

/// Why an app is started or continued in the background.
package enum WakeKind: String, Sendable, CaseIterable {
    case delivery, refresh, push, processing
}
