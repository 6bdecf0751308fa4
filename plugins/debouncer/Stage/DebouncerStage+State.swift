import BackgroundDelivery
import HealthModel
import MessageBus
import Protocol

extension DebouncerStage {
    /// Which releases the consumers have been sent, and when.
    struct Announcements {
        /// The release that each consumer was last sent.
        var sent: [String: Release] = [:]
        /// Consumers that were sent something besides it only once.
        var unrepeated: Set<String> = []
        /// The epoch of each consumer's last heartbeat.
        var lives: [String: Int64] = [:]
        var lastRepeat = MonotonicTime.distantPast
        var lastSpread = MonotonicTime.distantPast
        var repetition = Repetition(at: .distantPast)
    }

    /// What the app knows about itself and the phone.
    struct Phone {
        var device = DeviceState()
        var hasPath: Bool?
        /// When an app refresh may next wake the app, if the hour's wakes are used up.
        var nextWake: Instant?
        /// The machine that the stack runs on, if its configuration asks about it.
        var machine: MachineState?
        var isConsolidating = false
        var zones: [String: ZoneTimeline] = [:]
    }

    /// This launch, as a consumer of the observer's fires.
    struct Registration {
        /// The number of this launch, and the one that the observer has registered.
        var launch: Int64 = 0
        var confirmed: Int64?
        /// Types that are to be acknowledged, each up to its sequence number.
        var acknowledgements: [String: SequenceNumber] = [:]
    }

    /// The current historical sync, if any.
    struct HistoricalSync {
        var sync: History?
        /// The chunk that has been announced to the consumers.
        var announcedChunk: String?
    }
}
