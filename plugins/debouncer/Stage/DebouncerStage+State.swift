import BackgroundDelivery
import HealthModel
import MessageBus
import Protocol

extension DebouncerStage {
    /// What the consumers have been told about releases, and when.
    struct Telling {
        /// What each consumer was last told.
        var told: [String: AnchorVector] = [:]
        /// The epoch in which each consumer was last heard.
        var lives: [String: Int64] = [:]
        var lastRepeat = MonotonicTime.distantPast
        var lastSpread = MonotonicTime.distantPast
        var repetition = Repetition(at: .distantPast)
    }

    /// What the app knows about itself and the phone.
    struct Phone {
        var device = DeviceState()
        var hasPath: Bool?
        var isConsolidating = false
        var zones: [String: ZoneTimeline] = [:]
    }

    /// This launch, as a consumer of the observer's fires.
    struct Registration {
        /// The number of this launch, and the one that the observer has registered.
        var launch: Int64 = 0
        var confirmed: Int64?
        /// Types that are to be acknowledged, and how far.
        var acknowledgements: [String: SequenceNumber] = [:]
    }

    /// The current historical sync, if any.
    struct HistoricalSync {
        var sync: History?
        /// The chunk that the consumers have been told about.
        var toldChunk: String?
    }
}
