import BackgroundDelivery
import HealthModel

/// Zone timelines by user, as `ZoneTimeline` codes itself: those that changed in a window.
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

/// A user's timeline; null: no such user.
package struct TimelinePage: PageContent, Equatable {
    package var user: String
    @OrNull package var timeline: [ZonePlan.Part]?
    /// All that have one.
    package var users: [String]

    package init(user: String, timeline: [ZonePlan.Part]?, users: [String]) {
        self.user = user
        self.timeline = timeline
        self.users = users
    }
}

/// What the observer holds, by user and type.
package struct TypesPage: PageContent, Equatable {
    package var types: [TypeRow]
    package var quarantined: Int64?

    package init(types: [TypeRow], quarantined: Int64) {
        self.types = types
        self.quarantined = quarantined
    }
}

/// What the observer holds of a user's samples of one type.
package struct TypeRow: Codable, Sendable, Equatable {
    package var user: String
    package var type: String
    /// Of its newest change.
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

/// By type which dates have samples, sorted by user and type. A type with long columns comes in several rows, one after the other.
package struct CompletenessPage: PageContent, Equatable {
    package var types: [TypeDaysRow]
    /// On the last part, when there is more: also while it is still being counted.
    package var `continue`: TypePosition?

    package init(types: [TypeDaysRow], continue position: TypePosition? = nil) {
        self.types = types
        `continue` = position
    }
}

/// A user's samples of one type.
package struct TypeDaysRow: Codable, Sendable, Equatable {
    package var user: String
    package var type: String
    package var sequence: SequenceNumber
    package var samples: Int64
    @OrNull package var firstStart: Instant?
    @OrNull package var lastEnd: Instant?
    /// First and last of each run of consecutive dates with samples, days since 1970.
    @Packed package var runs: [Int32]
    /// Dates of samples that HealthKit stored more than a day after their end, how many, and the seconds from the end of the latest.
    @Packed package var lateDay: [Int32]
    @Packed package var lateCount: [Int32]
    @Packed package var lateLongest: [Int64]

    package init(
        user: String, type: String, sequence: SequenceNumber, samples: Int64, firstStart: Instant?, lastEnd: Instant?,
        runs: [Int32], lateDay: [Int32], lateCount: [Int32], lateLongest: [Int64]
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
    }
}

/// Apple's own figures of a user's days, by date.
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
    /// On the last part, when there is more: the date to ask again from.
    package var `continue`: String?

    package init(summaries: [Row], continue date: String? = nil) {
        self.summaries = summaries
        `continue` = date
    }
}

/// The device, and who is registered for what.
package struct DeliveryPage: PageContent, Equatable {
    package var device: DeviceState
    package var registrations: KeptRegistrations

    package init(device: DeviceState, registrations: KeptRegistrations) {
        self.device = device
        self.registrations = registrations
    }
}

/// Where one sample is; null: there is none of that id.
package struct SampleWhereaboutsPage: PageContent, Equatable {
    @OrNull package var sample: SampleWhereabouts?

    package init(sample: SampleWhereabouts?) { self.sample = sample }
}

/// Where a sample is in the store, and by when: nothing of what it measured.
package struct SampleWhereabouts: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable { case alive, absent, deleted, quarantined }

    package var id: String
    /// HealthKit's.
    @OrNull package var uuid: String?
    package var user: String
    package var type: String
    /// Of its newest change, and of the one that brought it.
    package var sequence: SequenceNumber
    package var born: SequenceNumber
    package var start: Instant
    package var end: Instant
    package var state: State
    /// When it was first committed, and when last, where that is known.
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
