/// What a handler computes from: one user's day.
public struct DayInput: Sendable {
    /// Whose day it is.
    public var user: String
    /// The date that figures are asked for.
    public var day: LocalDay
    /// The instants that belong to the result: the local day (a union of ranges when a flight makes it so), or the night's window.
    public var window: [Range<Instant>]
    /// In which zones the user was; for hours, and days, of the local clock.
    public var zones: ZoneTimeline
    /// The day's slice (`ZoneTimeline.slice`): alive, plausible samples that overlap the window, or lie as far beyond it as the
    /// handler's window says, in canonical order (start, id). Long ones reach past its edges.
    public var samples: SamplePage
    /// The handler's configuration: its schema's defaults overlaid with the stack's.
    public var configuration: Value
    /// What is known of the user, of what the handler asks for: `dateOfBirth` ("1986-05-17"). Unknown members are missing.
    public var characteristics: Value

    /// A day with what is given, for tests of a handler: nothing is cut or checked.
    public init(
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
public struct DayOutput: Sendable, Equatable {
    /// Members of the daily summary, by the summary's names ("steps", "sleep"); absent where there is no data, never 0.
    public var figures: [String: Value]
    /// Detail that stays beside the summary: hourly buckets by figure, 24 (23, 25) numbers or null each.
    public var hourly: [String: Value]
    /// Derived events of this day (workouts, nights), by id.
    public var events: [DayEvent]

    /// Empty where nothing is given: a day without data.
    public init(figures: [String: Value] = [:], hourly: [String: Value] = [:], events: [DayEvent] = []) {
        self.figures = figures
        self.hourly = hourly
        self.events = events
    }
}

/// A derived event: something with a beginning and an end that is delivered by itself.
public struct DayEvent: Sendable, Equatable {
    /// Stable over recomputation: the id of the sample it derives from.
    public var id: String
    /// "workout", "night".
    public var kind: String
    /// What is delivered, an object.
    public var payload: Value

    /// An event with what is given.
    public init(id: String, kind: String, payload: Value) {
        self.id = id
        self.kind = kind
        self.payload = payload
    }
}

/// Which instants a handler needs for a day: 24 hours of the local clock, and how far its slices reach beyond them.
///
/// Figures may follow from a slice only, so a change touches exactly the days whose slice can hold it: the narrower, the fewer.
public struct HandlerWindow: Sendable, Hashable {
    /// The hour of the local clock at which the day's window ends, 1 to 24; it begins at this hour of the day before.
    public var endHour: Int
    /// How far before the window's begin a slice begins.
    public var before: Duration
    /// How far after the window's end a slice ends.
    public var after: Duration

    /// The local day where nothing is given.
    public init(endHour: Int = 24, before: Duration = .zero, after: Duration = .zero) {
        self.endHour = endHour
        self.before = before
        self.after = after
    }

    /// The local day itself.
    public static let localDay = HandlerWindow()
}

/// What a handler says of itself: what its figures depend on beside the samples, and what of them it needs.
public protocol HandlerTraits: Sendable {
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
    /// None.
    public var detailedTypes: Set<String> { [] }
    /// None.
    public var payloadTypes: Set<String> { [] }
    /// None.
    public var during: [String: String] { [:] }
    /// None.
    public var characteristics: Set<String> { [] }
    /// The local day.
    public func window(_ configuration: Value) throws -> HandlerWindow { .localDay }
}

/// One metric family: a pure function from a day's samples to figures and events. It keeps no state and does no I/O;
/// the host owns anchors, days to recompute and delivery.
public protocol DayHandler: HandlerTraits {
    /// The figures of one day; the same for the same input, always.
    /// - Throws: when the day can't be computed. It is tried again, three times in all, and then left out with that reason, which mustn't hold a health value.
    func compute(_ input: DayInput) throws -> DayOutput
}

/// The handler of a plugin. It is made without arguments, since it keeps nothing.
///
/// It is found by its name: that of the plugin `heart-rate` is the structure `HeartRateHandler` in the module `HeartRateStage`.
public protocol PluginHandler: DayHandler {
    /// The host makes it in this way, once.
    init()
}

extension DayInput {
    /// One day's input, its slice cut out of samples that hold it and maybe more.
    /// - Parameter samples: alive and plausible, in canonical order; statistics among them become samples where they count.
    public init(
        user: String, day: LocalDay, window: HandlerWindow, zones: ZoneTimeline, cutting samples: SamplePage,
        configuration: Value = [:], characteristics: Value = [:]
    ) {
        self.init(
            user: user, day: day, window: zones.window(of: day, window), zones: zones,
            samples: samples.overlapping(zones.slice(of: day, window)).countingStatistics(),
            configuration: configuration,
            characteristics: characteristics)
    }
}
