import BackgroundDelivery
import HealthModel

/// Zone timelines by user, in the form that `ZoneTimeline` encodes: those that changed in a window.
package struct ZonesPage: PageContent, Equatable {
    package var zones: [String: Value]
    package var from: SequenceNumber?
    package var through: SequenceNumber?

    package init(zones: [String: Value], from: SequenceNumber, through: SequenceNumber) {
        self.zones = zones
        self.from = from
        self.through = through
    }
}

/// A user's timeline; null if there is no such user.
package struct TimelinePage: PageContent, Equatable {
    package var user: String
    @OrNull package var timeline: [ZonePlan.Part]?
    /// All users with a timeline.
    package var users: [String]

    package init(user: String, timeline: [ZonePlan.Part]?, users: [String]) {
        self.user = user
        self.timeline = timeline
        self.users = users
    }
}

/// What the observer has, by user and type.
package struct TypesPage: PageContent, Equatable {
    package var types: [TypeRow]
    package var quarantined: Int64?

    package init(types: [TypeRow], quarantined: Int64) {
        self.types = types
        self.quarantined = quarantined
    }
}

/// What the observer has of a user's samples of one type.
package struct TypeRow: Codable, Sendable, Equatable {
    package var user: String
    package var type: String
    /// The sequence of its latest change.
    package var sequence: SequenceNumber
    package var alive: Int
    package var deleted: Int
    package var quarantined: Int
    @OrNull package var firstStart: Instant?
    @OrNull package var lastStart: Instant?
    @OrNull package var lastEnd: Instant?

    package init(
        user: String, type: String, sequence: SequenceNumber, alive: Int, deleted: Int, quarantined: Int,
        firstStart: Instant?,
        lastStart: Instant?, lastEnd: Instant?
    ) {
        self.user = user
        self.type = type
        self.sequence = sequence
        self.alive = alive
        self.deleted = deleted
        self.quarantined = quarantined
        self.firstStart = firstStart
        self.lastStart = lastStart
        self.lastEnd = lastEnd
    }
}

/// Which dates have samples, by type; sorted by user and type. A type with long columns takes several consecutive rows.
package struct CompletenessPage: PageContent, Equatable {
    package var types: [TypeDaysRow]
    /// Set on the last part if there is more, or while counting is still in progress.
    package var `continue`: TypePosition?

    package init(types: [TypeDaysRow], continue position: TypePosition? = nil) {
        self.types = types
        `continue` = position
    }
}

/// A user's samples of one type.
package struct TypeDaysRow: Codable, Sendable, Equatable {
    /// Stretches where samples of one source cover the same time, and no export has them together.
    package struct Overlaps: Codable, Sendable, Equatable {
        package var stretches: Int64
        /// The beginning of the first and the end of the last.
        package var first: Instant
        package var last: Instant

        package init(stretches: Int64, first: Instant, last: Instant) {
            self.stretches = stretches
            self.first = first
            self.last = last
        }
    }

    package var user: String
    package var type: String
    package var sequence: SequenceNumber
    package var samples: Int64
    @OrNull package var firstStart: Instant?
    @OrNull package var lastEnd: Instant?
    /// The first and last date of each run of consecutive dates with samples, in days since 1970.
    @Packed package var runs: [Int32]
    /// Dates with samples that HealthKit stored more than a day after they ended, how many such samples there are, and
    /// the longest delay in seconds.
    @Packed package var lateDay: [Int32]
    @Packed package var lateCount: [Int32]
    @Packed package var lateLongest: [Int64]
    /// In a type's first row; nil if there are none.
    package var overlaps: Overlaps?

    package init(
        user: String, type: String, sequence: SequenceNumber, samples: Int64, firstStart: Instant?, lastEnd: Instant?,
        runs: [Int32], lateDay: [Int32], lateCount: [Int32], lateLongest: [Int64], overlaps: Overlaps? = nil
    ) {
        self.user = user
        self.type = type
        self.sequence = sequence
        self.samples = samples
        self.firstStart = firstStart
        self.lastEnd = lastEnd
        self.runs = runs
        self.lateDay = lateDay
        self.lateCount = lateCount
        self.lateLongest = lateLongest
        self.overlaps = overlaps
    }
}

/// Apple's own figures for a user's days, by date.
package struct SummariesPage: PageContent, Equatable {
    package struct Row: Codable, Sendable, Equatable {
        package var date: String
        package var figures: Value

        package init(date: String, figures: Value) {
            self.date = date
            self.figures = figures
        }
    }

    package var summaries: [Row]
    /// Set on the last part if there is more: the date to continue from.
    package var `continue`: String?

    package init(summaries: [Row], continue date: String? = nil) {
        self.summaries = summaries
        `continue` = date
    }
}

/// The device, and which consumers are registered for what.
package struct DeliveryPage: PageContent, Equatable {
    package var device: DeviceState
    package var registrations: KeptRegistrations

    package init(device: DeviceState, registrations: KeptRegistrations) {
        self.device = device
        self.registrations = registrations
    }
}

/// The location of one sample in the store; null if none has that id.
package struct SampleWhereaboutsPage: PageContent, Equatable {
    @OrNull package var sample: SampleWhereabouts?

    package init(sample: SampleWhereabouts?) { self.sample = sample }
}

/// Where a sample is in the store, and since when; nothing about its value.
package struct SampleWhereabouts: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable { case alive, absent, deleted, quarantined }

    package var id: String
    /// HealthKit's UUID.
    @OrNull package var uuid: String?
    package var user: String
    package var type: String
    /// The sequences of its latest change and of the one that added it.
    package var sequence: SequenceNumber
    package var born: SequenceNumber
    package var start: Instant
    package var end: Instant
    package var state: State
    /// When it was first and last committed, if known.
    @OrNull package var stored: Instant?
    @OrNull package var changed: Instant?

    package init(
        id: String, uuid: String?, user: String, type: String, sequence: SequenceNumber, born: SequenceNumber,
        start: Instant,
        end: Instant, state: State, stored: Instant?, changed: Instant?
    ) {
        self.id = id
        self.uuid = uuid
        self.user = user
        self.type = type
        self.sequence = sequence
        self.born = born
        self.start = start
        self.end = end
        self.state = state
        self.stored = stored
        self.changed = changed
    }
}
