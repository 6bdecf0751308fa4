import HealthModel

/// The part of the registrations that must survive a restart. Fires in progress are left out: `held` or the head causes
/// them to be repeated. Empty before anything is stored.
package struct KeptRegistrations: Codable, Sendable, Equatable {
    package struct Consumer: Codable, Sendable, Equatable {
        package var launch: Int64
        /// The frequency that it asked for, by type.
        package var types: [String: String]?
        package var stopped: Bool?
        package var strikes: [String: Int]?
    }

    package var consumers: [String: Consumer]?
    /// For types that have changed since their last fire, or are off or denied: the sequence number up to which they
    /// were fired.
    package var held: [String: SequenceNumber]?
    package var lastFires: [String: Instant]?
    package var off: [String]?
    package var denied: [String]?
    /// Set by hand.
    package var frequencies: [String: String]?
    package var wakes: [Instant]?
    @OrNull package var lockHeldSince: Instant? = nil

    package init() {}
}

extension ObserverRegistrations {
    package var kept: KeptRegistrations {
        var kept = KeptRegistrations()
        kept.consumers = consumers.mapValues { consumer in
            .init(
                launch: consumer.launch, types: consumer.types.mapValues(\.name), stopped: consumer.isStopped,
                strikes: consumer.strikes)
        }
        kept.held = held
        kept.lastFires = lastFires
        kept.off = off.sorted()
        kept.denied = denied.sorted()
        kept.frequencies = frequencies.mapValues(\.name)
        kept.wakes = wakes
        kept.lockHeldSince = lockHeldSince
        return kept
    }

    package init(_ kept: KeptRegistrations, limits: SystemLimits) {
        self.init(limits: limits)
        held = kept.held ?? [:]
        savedHeld = held
        lastFires = kept.lastFires ?? [:]
        off = Set(kept.off ?? [])
        denied = Set(kept.denied ?? [])
        frequencies = (kept.frequencies ?? [:]).compactMapValues(DeliveryFrequency.init(name:))
        wakes = kept.wakes ?? []
        lockHeldSince = kept.lockHeldSince
        consumers = (kept.consumers ?? [:]).mapValues { entry in
            var consumer = Consumer(
                launch: entry.launch, types: (entry.types ?? [:]).compactMapValues(DeliveryFrequency.init(name:)))
            consumer.isStopped = entry.stopped == true
            consumer.strikes = entry.strikes ?? [:]
            return consumer
        }
    }

    /// Records that the owner has stored everything.
    package mutating func saved() {
        isChanged = false
        savedHeld = held
        isWorthSaving = false
    }
}
