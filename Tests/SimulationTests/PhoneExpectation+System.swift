import HealthModel
import Simulation

/// When the system gives the app time, measured on a phone that holds nothing back but the number in question.
extension PhoneExpectation {
    /// Enough deliveries, refreshes, processing tasks and pushes a day that only the number in question limits them.
    private static let many = 10_000.0

    private static let promptDelivery: [PhoneModel.Number: Double] = [
        .deliveriesPerDay: many, .deliveryBurst: 100, .deliverySpacingMinutes: 0, .deliveryDelayLowMinutes: 0,
        .deliveryDelayHighMinutes: 0,
    ]

    /// The shortest and the longest that a change waits for its wake, in minutes.
    private static func delays(
        _ model: PhoneModel, afterTermination: Bool = false, isImmediate: Bool = false
    ) -> (least: Double, most: Double) {
        var random = SimulatedRandom(seed: 1)
        let delays = (0..<2000).map { _ in
            model.deliveryDelay(
                afterTermination: afterTermination, isImmediate: isImmediate, willingness: 0, using: &random
            ).seconds / 60
        }
        return (delays.min() ?? 0, delays.max() ?? 0)
    }

    static let deliveries: [PhoneExpectation] = [
        .init(.deliveriesPerDay, "wakes a day, of a willing system", 3...5) {
            var phone = promptDelivery
            phone[.deliveriesPerDay] = $0[.deliveriesPerDay]
            return try $0.favourable(phone.merging([.deliveryBurst: 1, .immediateInAdvance: 0]) { $1 })
                .result(.backgroundDelivery).wakesPerDay
        },
        // A phone used for an hour a day, when every hour has one wake: the others come from what was saved up.
        .init(.deliveryBurst, "wakes in an hour of use after a day without", 2.2...2.9) {
            var phone = promptDelivery
            phone[.deliveryBurst] = $0[.deliveryBurst]
            phone.merge([.deliveriesPerDay: 24, .wakesUpAtHour: 12, .fallsAsleepAtHour: 13.2]) { $1 }
            return try $0.favourable(phone).result(.backgroundDelivery, days: 60).wakesPerDay
        },
        .init(.deliverySpacingMinutes, "wakes a day, of which each shares what has changed", 17...24) {
            var phone = promptDelivery
            phone[.deliverySpacingMinutes] = $0[.deliverySpacingMinutes]
            return try $0.favourable(phone).result(.backgroundDelivery).wakesPerDay
        },
        .init(.deliveryDelayLowMinutes, "minutes that a change waits, at least", 0.9...1.5) { delays($0).least },
        .init(.deliveryDelayHighMinutes, "minutes that a change waits, at most", 50...60) { delays($0).most },
        .init(.terminatedDelayHighMinutes, "minutes, after the system ended the app", 200...240) {
            delays($0, afterTermination: true).most
        },
        .init(.immediateDelayHighMinutes, "minutes that a workout waits, at most", 8...10) {
            delays($0, isImmediate: true).most
        },
        // A workout a day and no budget: the first wake, and those in advance.
        .init(.immediateInAdvance, "wakes in three weeks", 1.5...2.5) {
            var phone = promptDelivery
            phone.merge([.deliveriesPerDay: 0.01, .deliveryBurst: 1, .workoutsPerDay: 1]) { $1 }
            return try $0.favourable(phone).result(.backgroundDelivery, days: 21).wakesPerDay * 21
        },
        // Apple: after three.
        .init(.strikesUntilStopped, "wakes of an app that never completes one", 2.5...3.5) {
            try $0.favourable(promptDelivery).result(.noCompletion).wakesPerDay * 10
        },
        .init(.strikeBackOffMinutes, "minutes from the first to the third such wake", 35...65) {
            let phone = $0.favourable(promptDelivery)
            func stopped(_ strikes: Double) throws -> Double {
                try phone.with(.strikesUntilStopped, strikes).result(.noCompletion).deliveryStoppedAfter ?? 0
            }
            return try (stopped(3) - stopped(1)) / 60
        },
    ]

    private static let promptRefresh: [PhoneModel.Number: Double] = [
        .refreshesPerDay: many, .deliveryBurst: 100, .refreshEarliestMinutes: 1, .refreshChance: 1,
    ]
    private static let promptProcessing: [PhoneModel.Number: Double] = [
        .processingPerDay: many, .deliveryBurst: 100, .processingEarliestHours: 0.01, .processingChance: 1,
        .processingIdleMinutes: 1, .processingBatteryChance: 0, .pickupsPerDay: 40, .chargesAtNight: 1,
        .chargesByDay: 0, .wakesUpAtHour: 7, .fallsAsleepAtHour: 22,
        .usualSeconds: 4,
    ]
    static let promptPush: [PhoneModel.Number: Double] = [
        .pushesPerHour: 12, .pushesPerDay: many, .deliveryBurst: 100, .pushPasses: 1, .pushIdleMinutes: 10_000,
    ]

    /// Wakes a day on a phone on which, of a kind of wake, only one number limits them.
    private static func wakes(
        _ strategy: DeliveryStrategy, _ prompt: [PhoneModel.Number: Double], but number: PhoneModel.Number,
        _ more: [PhoneModel.Number: Double] = [:]
    ) -> @Sendable (PhoneModel) throws -> Double {
        { model in
            let phone = model.favourable(prompt.merging([number: model[number]]) { $1 }.merging(more) { $1 })
            return try phone.result(strategy, use: .daily).wakesPerDay
        }
    }

    static let otherWakes: [PhoneExpectation] = [
        .init(
            .refreshesPerDay, "refreshes a day", 1.2...3,
            wakes(.appRefresh, promptRefresh, but: .refreshesPerDay, [.deliveryBurst: 1])),
        .init(
            .refreshEarliestMinutes, "refreshes a day, asked for once an hour", 16...24,
            wakes(.appRefresh, promptRefresh, but: .refreshEarliestMinutes)),
        .init(
            .refreshAfterUseMinutes, "refreshes a day, every 5 min after some four pickups", 16...38,
            wakes(.appRefresh, promptRefresh, but: .refreshAfterUseMinutes, [.pickupsPerDay: 4, .pickupMinutes: 0.2])),
        .init(
            .refreshChance, "refreshes a day, tried every 5 min", 28...60,
            wakes(.appRefresh, promptRefresh, but: .refreshChance)),
        .init(
            .processingPerDay, "processing tasks a day", 0.7...1.4,
            wakes(
                .processing, promptProcessing, but: .processingPerDay, [.deliveryBurst: 1, .processingBatteryChance: 1])
        ),
        .init(
            .processingEarliestHours, "tasks a night of nine hours", 2...3.5,
            wakes(.processing, promptProcessing, but: .processingEarliestHours)),
        .init(
            .processingIdleMinutes, "tasks in an evening on power, every 5 min", 50...82,
            wakes(
                .processing, promptProcessing, but: .processingIdleMinutes,
                [.pickupsPerDay: 70, .plugsInBeforeSleepMinutes: 800, .wakesUpAtHour: 1, .fallsAsleepAtHour: 23])),
        .init(
            .processingChance, "tasks a night, tried every 5 min", 50...90,
            wakes(.processing, promptProcessing, but: .processingChance)),
        .init(
            .processingBatteryChance, "tasks a day on battery, tried every 5 min", 0.6...1.5,
            { model in
                var prompt = promptProcessing
                (prompt[.processingBatteryChance], prompt[.chargesAtNight]) = (model[.processingBatteryChance], 1)
                let result = try model.favourable(prompt).result(.processing, days: 60, use: .daily)
                return result.wakesByHour[9..<18].reduce(0, +)
            }),
        .init(
            .processingAfterUseDays, "days with tasks after the app was opened once", 5...10,
            { model in
                let phone = model.favourable(promptProcessing)
                return try phone.result(.processing, days: 21).wakesPerDay * 21
                    / phone.with(.processingAfterUseDays, 100).result(.processing, days: 21).wakesPerDay
            }),
        // Apple: two or three an hour. The backend sends what counts, and no more.
        .init(
            .pushesPerHour, "pushes an hour, of a phone that takes them all", 1.8...3,
            { try wakes(.silentPush, promptPush, but: .pushesPerHour)($0) / 24 }),
        .init(
            .pushesPerDay, "pushes a day, of a willing system", 1.3...3,
            wakes(.silentPush, promptPush, but: .pushesPerDay, [.deliveryBurst: 1])),
        .init(
            .pushPasses, "share of the pushes that arrive", 0.5...0.9,
            { try wakes(.silentPush, promptPush, but: .pushPasses, [.pushesPerHour: 2])($0) / 48 }),
        .init(
            .pushIdleMinutes, "pushes a day, every 5 min after some four pickups", 26...50,
            wakes(.silentPush, promptPush, but: .pushIdleMinutes, [.pickupsPerDay: 4, .pickupMinutes: 0.2])),
        .init(
            .pushAfterUseDays, "days with pushes after the app was opened once", 2...4.5,
            { model in
                let phone = model.favourable(promptPush)
                return try phone.result(.silentPush, days: 14).wakesPerDay * 14
                    / phone.with(.pushAfterUseDays, 100).result(.silentPush, days: 14).wakesPerDay
            }),
    ]

    // MARK: Willingness

    /// How willing the system is when only one thing speaks against the app, or for it.
    private static func will(
        _ model: PhoneModel, _ kind: WakeKind = .delivery, _ change: (inout SystemMood) -> Void
    ) -> Double {
        var mood = SystemMood()
        mood.opensPerDay = 100
        change(&mood)
        return mood.willingness(kind, model)
    }

    private static let levels = stride(from: 0.0, through: 1, by: 0.01)

    static let willingness: [PhoneExpectation] = [
        .init(.unusedShare, "for an app that is never opened", 0.2...0.45) { will($0) { $0.opensPerDay = 0 } },
        .init(.fullUsePerDay, "openings a day from which nothing is held back", 1.5...3) { model in
            stride(from: 0.0, through: 10, by: 0.1).first { opens in will(model) { $0.opensPerDay = opens } >= 1 } ?? 0
        },
        // After one opening, half of the wakes come before the use is forgotten by half.
        .init(.useHalfLifeDays, "share of a month's refreshes in its first three days", 0.42...0.6) {
            let phone = $0.favourable(
                promptRefresh.merging([.unusedShare: 0, .refreshesPerDay: 100, .fullUsePerDay: 1]) { $1 })
            return try phone.result(.appRefresh, days: 3).wakesPerDay * 3
                / (phone.result(.appRefresh, days: 30).wakesPerDay * 30)
        },
        .init(.lowBatteryBelow, "battery above which the system relents", 0.15...0.25) { model in
            let least = will(model) { $0.battery = 0 }
            return levels.first { level in will(model) { $0.battery = level } > least } ?? 0
        },
        .init(.easyBatteryAbove, "battery from which it is no concern", 0.4...0.7) { model in
            levels.first { level in will(model) { $0.battery = level } >= 1 } ?? 0
        },
        .init(.lowBatteryShare, "with a battery of a tenth, above the low limit of none", 0.12...0.35) {
            will($0.with(.lowBatteryBelow, 0.2)) { $0.battery = 0.1 }
        },
        .init(.lowPowerShare, "in Low Power Mode", 0.2...0.5) { will($0) { $0.isLowPower = true } },
        .init(.focusShare, "in a Focus", 0.5...0.95) { will($0) { $0.isFocused = true } },
        .init(.loadShare, "under full load", 0.2...0.5) { will($0) { $0.load = 1 } },
        .init(.offlineShare, "without a network", 0.3...0.8) { will($0) { $0.isOnline = false } },
        .init(.chargingShare, "on power, compared with a full battery", 1.1...1.9) { model in
            will(model.with(.unusedShare, 0.3)) { ($0.opensPerDay, $0.isCharging) = (0, true) }
                / will(model.with(.unusedShare, 0.3)) { $0.opensPerDay = 0 }
        },
    ]

    // MARK: Runs

    /// The seconds of a run of an app that never ends one by itself.
    private static func run(
        _ strategy: DeliveryStrategy, _ prompt: [PhoneModel.Number: Double], _ seconds: Double = 100_000
    ) -> @Sendable (PhoneModel) throws -> Double {
        { model in
            let phone = model.favourable(prompt.merging([.usualSeconds: seconds]) { $1 })
            let result = try phone.result(strategy, days: 3, use: .daily)
            return (result.runSecondsPerDay ?? 0) / max(1, result.wakesPerDay)
        }
    }

    static let runs: [PhoneExpectation] = [
        .init(.deliverySeconds, "seconds until a wake is ended", 14...16, run(.backgroundDelivery, promptDelivery)),
        .init(.refreshSeconds, "seconds until a refresh is ended", 28...31, run(.appRefresh, promptRefresh)),
        .init(.pushSeconds, "seconds until a push's run is ended", 28...31, run(.silentPush, promptPush)),
        .init(.processingSeconds, "seconds until processing is ended", 400...620, run(.processing, promptProcessing)),
        .init(.usualSeconds, "seconds of an ideal app's run", 3...6) {
            try run(.backgroundDelivery, promptDelivery, $0[.usualSeconds])($0)
        },
    ]
}
