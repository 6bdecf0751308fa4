/// What a handler computes from: one user's day.
package struct DayInput: Sendable {
    package var user: String
    package var day: LocalDay
    /// The instants that belong to the result: the local day (a union of ranges when a flight makes it so), or the night's window.
    package var window: [Range<Instant>]
    package var zones: ZoneTimeline
    /// The day's slice (`ZoneTimeline.slice`): alive, plausible samples that overlap the window, or lie as far beyond it as the
    /// handler's window says, in canonical order (start, id). Long ones reach past its edges.
    package var samples: SamplePage
    /// The handler's configuration: its schema's defaults overlaid with the stack's.
    package var configuration: Value
    /// What is known of the user, of what the handler asks for: `dateOfBirth` ("1986-05-17"). Unknown members are missing.
    package var characteristics: Value

    package init(
        user: String, day: LocalDay, window: [Range<Instant>], zones: ZoneTimeline, samples: SamplePage,
        configuration: Value = [:], characteristics: Value = [:]
    ) {
        self.user = user
        self.day = day
        self.window = window
        self.zones = zones
        self.samples = samples
        self.configuration = configuration
        self.characteristics = characteristics
    }
}

/// What a handler derives from one day.
package struct DayOutput: Sendable, Equatable {
    /// Members of the daily summary, by the summary's names ("steps", "sleep"); absent where there is no data, never 0.
    package var figures: [String: Value]
    /// Detail that stays beside the summary: hourly buckets by figure, 24 (23, 25) numbers or null each.
    package var hourly: [String: Value]
    /// Derived events of this day (workouts, nights), by id.
    package var events: [DayEvent]

    package init(figures: [String: Value] = [:], hourly: [String: Value] = [:], events: [DayEvent] = []) {
        self.figures = figures
        self.hourly = hourly
        self.events = events
    }
}

/// A derived event: something with a beginning and an end that is delivered by itself.
package struct DayEvent: Sendable, Equatable {
    /// Stable over recomputation: the id of the sample it derives from.
    package var id: String
    /// "workout", "night".
    package var kind: String
    package var payload: Value

    package init(id: String, kind: String, payload: Value) {
        self.id = id
        self.kind = kind
        self.payload = payload
    }
}

/// Which instants a handler needs for a day: 24 hours of the local clock, and how far its slices reach beyond them.
///
/// Figures may follow from a slice only, so a change touches exactly the days whose slice can hold it: the narrower, the fewer.
package struct HandlerWindow: Sendable, Hashable {
    /// The hour of the local clock at which the day's window ends, 1 to 24; it begins at this hour of the day before.
    package var endHour: Int
    /// How far before the window's begin a slice begins, microseconds.
    package var before: Instant
    /// How far after the window's end a slice ends, microseconds.
    package var after: Instant

    package init(endHour: Int = 24, before: Instant = 0, after: Instant = 0) {
        self.endHour = endHour
        self.before = before
        self.after = after
    }

    /// The local day itself.
    package static let localDay = HandlerWindow()
}

/// What a handler says of itself: what its figures depend on beside the samples, and what of them it needs.
package protocol HandlerTraits: Sendable {
    /// Raises whenever the same samples would give other figures: every day is then computed again.
    var version: Int { get }
    /// The types of which it reads `payload`, `metadata`, `created` or `healthKitUUID`; none unless a handler says otherwise. Without
    /// them a row is a third of the size.
    var detailedTypes: Set<String> { get }
    /// The types of which it reads `payload` alone, where there is one; none unless a handler says otherwise. Costs nothing for samples without.
    var payloadTypes: Set<String> { get }
    /// By type: another one, during whose samples alone it needs those of the first. A slice holds no others. Empty unless a handler says
    /// otherwise.
    var during: [String: String] { get }
    /// The members of `DayInput.characteristics` that it reads; none unless a handler says otherwise.
    var characteristics: Set<String> { get }
    /// Which instants its days are: the local day, unless it says otherwise.
    /// - Parameter configuration: as in `DayInput`.
    /// - Throws: for options that it can't work with; the host then doesn't start.
    func window(_ configuration: Value) throws -> HandlerWindow
}

extension HandlerTraits {
    package var detailedTypes: Set<String> { [] }
    package var payloadTypes: Set<String> { [] }
    package var during: [String: String] { [:] }
    package var characteristics: Set<String> { [] }
    package func window(_ configuration: Value) throws -> HandlerWindow { .localDay }
}

/// One metric family: a pure function from a day's samples to figures and events. It keeps no state and does no I/O;
/// the host owns anchors, days to recompute and delivery.
package protocol DayHandler: HandlerTraits {
    func compute(_ input: DayInput) throws -> DayOutput
}

/// The handler of a plugin. It is made of nothing, since it keeps nothing.
///
/// It is found by its name: of the plugin `heart-rate` it is the structure `HeartRateHandler` in the module `HeartRateStage`.
package protocol PluginHandler: DayHandler {
    /// As the host makes it, once.
    init()
}

extension DayInput {
    /// One day's input, its slice cut out of samples that hold it and maybe more.
    /// - Parameter samples: alive and plausible, in canonical order.
    package init(
        user: String, day: LocalDay, window: HandlerWindow, zones: ZoneTimeline, cutting samples: SamplePage,
        configuration: Value = [:], characteristics: Value = [:]
    ) {
        self.init(
            user: user, day: day, window: zones.window(of: day, window), zones: zones,
            samples: samples.overlapping(zones.slice(of: day, window)), configuration: configuration,
            characteristics: characteristics)
    }
}
