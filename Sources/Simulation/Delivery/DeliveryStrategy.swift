import HealthModel

/// What gives an app time.
package enum DeliveryStrategy: String, Sendable, CaseIterable {
    case backgroundDelivery = "background-delivery"
    case appRefresh = "app-refresh"
    case silentPush = "silent-push"
    case processing
    /// Background delivery, with app refresh and processing as a safety net.
    case combined
    /// Background delivery only notes what changed and posts a notification, so that the person opens the app.
    case notify
    /// Nothing in the background: only the person opens the app.
    case opening
    /// What not to do: background delivery that sends whatever is dated since the last wake, without anchors.
    case naive
    /// What not to do: background delivery whose completion handler is never called.
    case noCompletion = "no-completion"

    package var wakes: [WakeKind] {
        switch self {
        case .backgroundDelivery, .notify, .naive, .noCompletion: [.delivery]
        case .appRefresh: [.refresh]
        case .silentPush: [.push]
        case .processing: [.processing]
        case .combined: [.delivery, .refresh, .processing]
        case .opening: []
        }
    }

    /// The strategies that it combines; empty unless it is a combination.
    package var parts: [DeliveryStrategy] {
        self == .combined ? [.backgroundDelivery, .appRefresh, .processing] : []
    }

    /// Whether it needs a backend that sends pushes.
    package var needsBackend: Bool { wakes.contains(.push) }

    /// The debouncer's options for this strategy. The phone decides when a task begins, as on iOS; a wake syncs at
    /// once, except with `notify`, whose wakes only note what has changed.
    package var debouncerOptions: [String: Value] {
        [
            "launch": "device",
            "background": self == .notify ? "task" : "sync",
            "strategy": wakes.contains(.processing) ? "combined" : "background-delivery",
        ]
    }
}

/// Why an app is started or continued in the background.
package enum WakeKind: Int, Sendable, CaseIterable {
    case delivery, refresh, push, processing
}

/// How often the person opens the app.
package enum AppUse: String, Sendable, CaseIterable {
    case never, weekly, daily, often

    package func opensPerDay(_ model: PhoneModel) -> Double {
        switch self {
        case .never: 0
        case .weekly: model[.weeklyOpens]
        case .daily: model[.dailyOpens]
        case .often: model[.oftenOpens]
        }
    }
}
