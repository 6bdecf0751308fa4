/// The input from which a handler computes its output: one user's day.
public struct DayInput: Sendable {
    /// The user whose day it is.
    public var user: String
    /// The date to compute figures for.
    public var day: LocalDay
    /// The instants that belong to the result: those of the local day (several ranges if a flight splits it), or of the
    /// night's window.
    public var window: [Range<Instant>]
    /// The zone that the user was in at each time, which determines the hours and days of the local clock.
    public var zones: ZoneTimeline
    /// The day's slice (`ZoneTimeline.slice`): plausible samples that aren't deleted and either overlap the window or
    /// are no further outside it than the handler's window allows. They are in canonical order (start, id). Long
    /// samples extend beyond the slice's edges.
    public var samples: SamplePage
    /// The handler's configuration: the defaults of its schema, overridden by the stack's.
    public var configuration: Value
    /// What is known about the user, limited to what the handler asks for: `dateOfBirth` ("1986-05-17"); `ownTypes`,
    /// how the user's own types are aggregated, by name: `{"aggregation", "unit"}`; `conditions`, what the user has
    /// asked it to watch, by name. Members that aren't known are missing.
    public var characteristics: Value

    /// Creates a day from exactly these values, for tests of a handler: nothing is cut or checked.
    public init(
        user: String, day: LocalDay, window: [Range<Instant>], zones: ZoneTimeline, samples: SamplePage,
        configuration: Value = [:], characteristics: Value = [:]
    ) {
        (self.user, self.day, self.window, self.zones, self.samples) = (user, day, window, zones, samples)
        (self.configuration, self.characteristics) = (configuration, characteristics)
    }
}

/// What a handler derives from one day.
public struct DayOutput: Sendable, Equatable {
    /// Members of the daily summary, under the names they have there ("steps", "sleep"); absent where there is no data,
    /// never 0.
    public var figures: [String: Value]
    /// Details in addition to the summary: for each figure a list with a number or null for each of the day's hours
    /// (`ZoneTimeline.hours`), usually 24.
    public var hourly: [String: Value]
    /// Events derived from this day (workouts, nights), by id.
    public var events: [DayEvent]

    /// A day's output; empty by default, which means a day without data.
    public init(figures: [String: Value] = [:], hourly: [String: Value] = [:], events: [DayEvent] = []) {
        (self.figures, self.hourly, self.events) = (figures, hourly, events)
    }
}

/// A derived event: something with a start and an end that is delivered on its own.
public struct DayEvent: Sendable, Equatable {
    /// It must stay the same when the day is computed again: usually the id of the sample that the event is derived
    /// from.
    public var id: String
    /// "workout", "night", "place", or a plugin's own word.
    public var kind: String
    /// The content that is delivered, which is an object.
    public var payload: Value

    /// An event made of these values.
    public init(id: String, kind: String, payload: Value) { (self.id, self.kind, self.payload) = (id, kind, payload) }
}

/// The instants that a handler needs for a day: 24 hours of the local clock, plus how far its slice extends beyond
/// them.
///
/// Figures may depend only on a slice, so a change affects exactly the days whose slice can contain it. The narrower
/// the window, the fewer days are affected.
public struct HandlerWindow: Sendable, Hashable {
    /// The hour of the local clock at which the day's window ends, 1 to 24; it begins at this hour of the day before.
    public var endHour: Int
    /// How far before the window's start a slice begins.
    public var before: Duration
    /// How far after the window's end a slice ends.
    public var after: Duration

    /// By default, the window is the local day.
    public init(endHour: Int = 24, before: Duration = .zero, after: Duration = .zero) {
        (self.endHour, self.before, self.after) = (endHour, before, after)
    }

    /// The local day itself.
    public static let localDay = HandlerWindow()
}

/// What a handler declares about itself: what its figures depend on besides the samples, and which parts of samples it
/// needs.
public protocol HandlerTraits: Sendable {
    /// Must be increased whenever the same samples would give different figures; every day is then computed again.
    var version: Int { get }
    /// The types of which it reads `payload`, `metadata`, `created` or `healthKitUUID`; none by default. Without these
    /// columns, a row is a third of the size.
    var detailedTypes: Set<String> { get }
    /// The types for which it reads only `payload`, if there is one; none by default. This costs nothing for samples
    /// without a payload.
    var payloadTypes: Set<String> { get }
    /// Maps a type to another type. Samples of the first are needed only where they overlap samples of the second, so a
    /// slice contains no others. Empty by default.
    var during: [String: String] { get }
    /// The members of `DayInput.characteristics` that it reads; none by default. If `conditions` is among them, the
    /// handler watches what people ask it to watch.
    var characteristics: Set<String> { get }
    /// Checks a condition that a person wants watched.
    /// - Returns: the condition as it will be stored.
    /// - Throws: what is wrong with the condition, without its name or content.
    func condition(_ name: String, _ value: Value) throws -> Value
    /// The maximum number of conditions that a person may have; unlimited by default.
    func conditionLimit(_ configuration: Value) -> Int
    /// The instants that its days consist of: the local day by default.
    /// - Parameter configuration: as in `DayInput`.
    /// - Throws: if it can't work with the options, in which case the host doesn't start.
    func window(_ configuration: Value) throws -> HandlerWindow
}

extension HandlerTraits {
    /// None by default.
    public var detailedTypes: Set<String> { [] }
    /// None by default.
    public var payloadTypes: Set<String> { [] }
    /// None by default.
    public var during: [String: String] { [:] }
    /// None by default.
    public var characteristics: Set<String> { [] }
    /// Unchanged by default.
    public func condition(_ name: String, _ value: Value) throws -> Value { value }
    /// Unlimited by default.
    public func conditionLimit(_ configuration: Value) -> Int { .max }
    /// The local day by default.
    public func window(_ configuration: Value) throws -> HandlerWindow { .localDay }
}

/// One metric family: a pure function from a day's samples to figures and events. It keeps no state and does no I/O;
/// the host takes care of anchors, delivery and computing days again.
public protocol DayHandler: HandlerTraits {
    /// Computes the figures of one day. The same input always gives the same output.
    /// - Throws: when the day can't be computed. It is tried three times in all, then skipped with the error as the
    ///   reason, so the error must not contain a health value.
    func compute(_ input: DayInput) throws -> DayOutput
}

/// The handler of a plugin. It is made without arguments, since it keeps no state.
///
/// The host finds it by name: the handler of the plugin `heart-rate` is the struct `HeartRateHandler` in the module
/// `HeartRateStage`.
public protocol PluginHandler: DayHandler {
    /// Called by the host, once.
    init()
}

extension DayInput {
    /// One day's input, whose slice is cut out of samples that contain it and possibly more.
    /// - Parameter samples: plausible samples that aren't deleted, in canonical order; statistics among them are turned
    ///   into samples where they count.
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
