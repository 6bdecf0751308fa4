import BackgroundDelivery
import HealthModel

/// What the hub reports besides its position.
package struct HubDetails: Codable, Sendable, Equatable {
    package var forwarded: Int
    /// On a sealed bus: handshakes that led to no connection.
    package var refused: Int?
    /// On a sealed bus: messages that their sender had no right to send.
    package var denied: Int?

    package init(forwarded: Int, refused: Int? = nil, denied: Int? = nil) {
        (self.forwarded, self.refused, self.denied) = (forwarded, refused, denied)
    }
}

/// What the observer reports besides its position.
package struct ObserverDetails: Codable, Sendable, Equatable {
    /// The file being read.
    package struct Reading: Codable, Sendable, Equatable {
        package var id: String
        package var bytesRead: Int64
        package var bytesTotal: Int64
        package var records: Int64

        package init(id: String, bytesRead: Int64, bytesTotal: Int64, records: Int64) {
            (self.id, self.bytesRead, self.bytesTotal, self.records) = (id, bytesRead, bytesTotal, records)
        }
    }

    /// The folder from which it imports files automatically.
    package struct Inbox: Codable, Sendable, Equatable {
        package var path: String
        /// Why it can't import, and what to do.
        @OrNull package var problem: String?

        package init(path: String, problem: String?) { (self.path, self.problem) = (path, problem) }
    }

    /// While this is true, no day becomes final.
    package var importOpen: Bool
    package var quarantined: Int64
    /// Whether another stack that this one follows hasn't been copied to its end yet. This counts as an open import.
    package var copying: Bool?
    /// How many samples the survey after an upgrade has found to be stored twice; nil if there are none, or before it
    /// has ended.
    package var doubles: Int64?
    package var reading: Reading?
    package var inbox: Inbox?
    /// nil for an active, unlocked phone that is connected to power.
    package var device: DeviceState?
    /// For each registered consumer, the launch that it registered with.
    @IfAny package var registered: [String: Int64] = [:]
    /// For each consumer whose registration was refused: why, and what to do.
    @IfAny package var refused: [String: String] = [:]
    /// How far each type has been fired; nil means up to the head.
    package var fired: AnchorVector?
    /// Types that aren't observed.
    @IfAny package var off: [String] = []
    /// The consumers that have failed too many times to acknowledge a fire.
    @IfAny package var stopped: [String] = []
    /// When the app may next be woken in the background, if this hour's wakes are used up.
    package var nextWake: Instant?

    package init(importOpen: Bool, quarantined: Int64) {
        (self.importOpen, self.quarantined) = (importOpen, quarantined)
    }

    private enum CodingKeys: String, CodingKey {
        case importOpen, quarantined, copying, doubles, inbox, device, registered, refused, fired, off, stopped
        case nextWake
        case reading = "import"
    }
}

/// What the debouncer reports besides its position.
package struct DebouncerDetails: Codable, Sendable, Equatable {
    /// The sync that was requested last, and its outcome.
    package struct Manual: Codable, Sendable, Equatable {
        package var id: String
        /// Why nothing was released.
        @OrNull package var problem: String?
        /// The round whose end shows that everything has been consumed.
        package var round: Int64?
        /// The consumers that this round still waits for; nil once it has ended.
        package var waiting: [String]?
        /// The outcome, once that round has ended.
        package var result: RoundResult?

        package init(
            id: String, problem: String? = nil, round: Int64? = nil, waiting: [String]? = nil,
            result: RoundResult? = nil
        ) {
            (self.id, self.problem, self.round, self.waiting, self.result) = (id, problem, round, waiting, result)
        }
    }

    /// What became of a request to wake the app.
    package struct Wake: Codable, Sendable, Equatable {
        package enum Result: String, Codable, Sendable, CaseIterable {
            case newData, noData, failed
        }

        package var id: String
        /// Whether a sync began.
        package var woken: Bool
        /// Why the app wasn't woken, couldn't read anything, or didn't deliver everything.
        package var problem: String?
        /// From when on the sender may wake it again, if the hour's wakes are used up.
        package var next: Instant?
        /// The outcome, once the sync has ended or is known not to begin.
        package var result: Result?

        package init(
            id: String, woken: Bool = false, problem: String? = nil, next: Instant? = nil, result: Result? = nil
        ) {
            (self.id, self.woken, self.problem, self.next, self.result) = (id, woken, problem, next, result)
        }
    }

    /// The current historical sync.
    package struct History: Codable, Sendable, Equatable {
        package var number: Int64
        /// Local dates, both included.
        package var from: String
        package var through: String
        /// How many chunks are done, and how many there are.
        package var done: Int
        package var chunks: Int
        package var began: Instant

        package init(number: Int64, from: String, through: String, done: Int, chunks: Int, began: Instant) {
            (self.number, self.from, self.through, self.done, self.chunks) = (number, from, through, done, chunks)
            self.began = began
        }
    }

    /// The number of types whose window is open, or that are waiting for their time.
    package var pending: Int
    package var manual: Manual?
    package var history: History?
    /// The latest requests to wake the app, oldest first; nil if there were none since the process began.
    package var wakes: [Wake]?

    package init(pending: Int, manual: Manual? = nil, history: History? = nil, wakes: [Wake]? = nil) {
        (self.pending, self.manual, self.history, self.wakes) = (pending, manual, history, wakes)
    }
}

/// The outcome of a release.
package struct RoundResult: Codable, Sendable, Equatable {
    package var number: Int64
    /// What opened it, such as "fire", "sync", "time of day" or a task's identifier.
    package var reason: String
    package var began: Instant
    /// In microseconds, as are the times that the consumers took.
    package var duration: Int64
    package var succeeded: [String: Int64]
    /// For each consumer that failed, the reason.
    package var failed: [String: String]

    package init(
        number: Int64, reason: String, began: Instant, duration: Int64, succeeded: [String: Int64],
        failed: [String: String]
    ) {
        (self.number, self.reason, self.began, self.duration) = (number, reason, began, duration)
        (self.succeeded, self.failed) = (succeeded, failed)
    }
}
