import BackgroundDelivery
import HealthModel
import MessageBus
import Protocol

extension DebouncerStage {
    /// What the consumers have been told of releases, and when.
    struct Telling {
        /// What each consumer was last told.
        var told: [String: AnchorVector] = [:]
        /// The epoch in which each consumer was last heard.
        var lives: [String: Int64] = [:]
        var lastRepeat = MonotonicTime.distantPast
        var lastSpread = MonotonicTime.distantPast
        var repetition = Repetition(at: .distantPast)
    }

    /// What the app knows of itself and the phone.
    struct Phone {
        var device = DeviceState()
        var hasPath: Bool?
        var isConsolidating = false
        var zones: [String: ZoneTimeline] = [:]
    }

    /// This start as a consumer of the observer's fires.
    struct Registration {
        /// The number of this start, and the one that the observer has registered.
        var launch: Int64 = 0
        var confirmed: Int64?
        /// Types that are to be acknowledged, up to where.
        var acknowledgements: [String: SequenceNumber] = [:]
    }

    /// The historical sync under way, if any.
    struct HistoricalSync {
        var sync: History?
        /// The chunk that the consumers have been told of.
        var toldChunk: String?
    }
}
