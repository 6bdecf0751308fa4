/// The numbers of the simulated person, Watch, phone and system. Every one of them has a row in `table`, with its
/// source and its range. Only details, such as how often a weight is edited, are numbers in the code.
package struct PhoneModel: Sendable, Equatable {
    /// The numbers, in the order of the table.
    package enum Number: Int, CaseIterable, Sendable {
        // The person.
        case pickupsPerDay, pickupMinutes, quietSpellsPerDay, quietSpellHours, wakesUpAtHour, fallsAsleepAtHour
        case weeklyOpens, dailyOpens, oftenOpens, usualOpens, openSeconds, forceQuitAfterUse
        case notificationsPerDay, notificationOpens
        case workoutsPerDay, focusHoursPerDay
        // The Watch.
        case watchDayMinutes, watchNightMinutes, watchAfterPickup, watchAfterWorkoutMinutes
        case watchApartDays, watchApartHours, heartRateMinutes, workoutSampleSeconds
        // The phone.
        case readableAfterLockMinutes, batteryPerHour, lowPowerBelow, lowPowerAccepted
        case chargesAtNight, plugsInBeforeSleepMinutes, chargesByDay, hotHoursPerDay
        case terminationsPerDay, rebootsPerDay, flightsPerDay, networkGapsPerDay, networkGapMinutes
        // Background delivery.
        case deliveriesPerDay, deliveryBurst, deliverySpacingMinutes
        case deliveryDelayLowMinutes, deliveryDelayHighMinutes, terminatedDelayHighMinutes
        case immediateDelayHighMinutes, immediateInAdvance
        case strikesUntilStopped, strikeBackOffMinutes
        // App refresh, processing, silent push.
        case refreshesPerDay, refreshEarliestMinutes, refreshAfterUseMinutes, refreshChance
        case processingPerDay, processingEarliestHours, processingIdleMinutes, processingChance
        case processingBatteryChance, processingAfterUseDays
        case pushesPerHour, pushesPerDay, pushPasses, pushIdleMinutes, pushAfterUseDays
        // How willing the system is to give the app time.
        case unusedShare, fullUsePerDay, useHalfLifeDays
        case lowBatteryBelow, easyBatteryAbove, lowBatteryShare, lowPowerShare, focusShare, loadShare, offlineShare
        case chargingShare
        // How long a run may last, and how long a run takes where the stages aren't run.
        case deliverySeconds, refreshSeconds, pushSeconds, processingSeconds, usualSeconds

        /// The case's name, also used in JSON.
        package var name: String { String(describing: self) }
    }

    /// What is known about a number.
    package struct Row: Sendable, Equatable {
        package var number: Number
        /// What the number means.
        package var meaning: String
        package var value: Double
        /// The range in which the value may plausibly lie.
        package var low: Double
        package var high: Double
        package var unit: String
        /// A page, a talk or a thread; "estimate:" and why it is plausible; or "definition:" and what it follows from.
        package var source: String

        package var isEstimate: Bool { source.hasPrefix("estimate") }
    }

    private var values: [Double]

    /// A model with the table's values.
    package init() {
        values = Number.allCases.map { number in Self.table.first { $0.number == number }?.value ?? 0 }
    }

    package subscript(_ number: Number) -> Double {
        get { values[number.rawValue] }
        set { values[number.rawValue] = newValue }
    }

    /// The same model with one number changed.
    package func with(_ number: Number, _ value: Double) -> PhoneModel {
        var model = self
        model[number] = value
        return model
    }

    func minutes(_ number: Number) -> Duration { .microseconds(Int64(self[number] * 60e6)) }
    func hours(_ number: Number) -> Duration { .microseconds(Int64(self[number] * 3600e6)) }
    func seconds(_ number: Number) -> Duration { .microseconds(Int64(self[number] * 1e6)) }
}
