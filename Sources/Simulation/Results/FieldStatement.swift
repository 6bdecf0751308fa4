/// What the field's reports and Apple say of a figure, and how the simulated phone's is measured.
struct FieldStatement {
    let name: String
    let unit: String
    let reports: String
    let apple: String
    /// What the phone's figure must lie in: where sources differ, what is harder for an app.
    let chosen: ClosedRange<Double>
    let measure: (inout FieldComparison.Measured) throws -> [Double]

    private init(
        _ name: String, _ unit: String, reports: String, apple: String = "", _ chosen: ClosedRange<Double>,
        _ measure: @escaping (inout FieldComparison.Measured) throws -> [Double]
    ) {
        (self.name, self.unit, self.reports, self.apple) = (name, unit, reports, apple)
        (self.chosen, self.measure) = (chosen, measure)
    }

    static var table: [FieldStatement] { wakes + delays + limits + app }

    private static var wakes: [FieldStatement] {
        let once = "at most one per period; hourly for steps"
        let idle = "when idle; within two days, if the app was used within a week"
        let push = "two or three an hour at most; none if the app wasn't launched for a while"
        return AppUse.allCases.map { use in
            FieldStatement(
                "background deliveries, app opened: \(use)", "a day", reports: "1 to 4", apple: once, 1...4
            ) { try $0.wakes(.backgroundDelivery, use) }
        } + [
            FieldStatement(
                "app refreshes, app opened: daily", "a day", reports: "0 to 3", apple: "depends on conditions and use",
                0...3
            ) { try $0.wakes(.appRefresh, .daily) },
            FieldStatement("app refreshes, app opened: never", "a day", reports: "0 to 3; not at all", 0...1) {
                try $0.wakes(.appRefresh, .never)
            },
            FieldStatement("processing, app opened: daily", "a day", reports: "0 to 1", apple: idle, 0...1) {
                try $0.wakes(.processing, .daily)
            },
            FieldStatement(
                "processing on battery", "% of runs", reports: "power isn't required, but preferred",
                apple: "`requiresExternalPower` is an option", 0...30
            ) {
                try $0.results(.processing, .daily).map { 100 * $0.wakesOnBatteryPerDay / max(0.01, $0.wakesPerDay) }
            },
            FieldStatement("silent pushes sent", "an hour", reports: "2", apple: "two or three", 0...2) {
                [$0.model[.pushesPerHour]]
            },
            FieldStatement(
                "silent pushes that wake it, app opened: daily", "a day", reports: "limited, delayed or dropped",
                apple: push,
                0...4
            ) { try $0.wakes(.silentPush, .daily) },
            FieldStatement(
                "the same, weekly", "a day", reports: "low reliability", apple: push, 0...1
            ) { try $0.wakes(.silentPush, .weekly) },
            FieldStatement("the same, never", "a day", reports: "low reliability", apple: push, 0...0.5) {
                try $0.wakes(.silentPush, .never)
            },
        ]
    }

    private static var delays: [FieldStatement] {
        [
            FieldStatement("from a change to its wake, in the background", "min", reports: "1 to 60", 1...60) {
                $0.delays(afterTermination: false)
            },
            FieldStatement("the same, after the system ended the app", "min", reports: "up to 240", 1...240) {
                $0.delays(afterTermination: true)
            },
            FieldStatement(
                "a workout by background delivery, median", "min", reports: "typically within 60", 0...60
            ) {
                try $0.results(.backgroundDelivery, .daily).map { ($0.byMetric["workouts"]?.median ?? .infinity) / 60 }
            },
            FieldStatement(
                "all samples by background delivery, median", "h", reports: "hourly to daily", apple: "no promise",
                1...24
            ) { try $0.median(.backgroundDelivery) },
            FieldStatement(
                "by app refresh, median", "h", reports: "every few hours to daily, or never", 1...24
            ) { try $0.median(.appRefresh) },
            FieldStatement("by silent push, median", "h", reports: "low reliability", 1...24) {
                try $0.median(.silentPush)
            },
            FieldStatement("by processing, median", "h", reports: "daily or less", 1...48) {
                try $0.median(.processing)
            },
        ]
    }

    private static var limits: [FieldStatement] {
        [
            FieldStatement("a background delivery may run", "s", reports: "15; \"a few\"", 0...15) {
                [$0.model.runSeconds(.delivery)]
            },
            FieldStatement("an app refresh may run", "s", reports: "30", apple: "30", 0...30) {
                [$0.model.runSeconds(.refresh)]
            },
            FieldStatement("a push may run", "s", reports: "30", apple: "30", 0...30) { [$0.model.runSeconds(.push)] },
            FieldStatement("processing may run", "s", reports: "up to 600; 30", apple: "minutes", 0...600) {
                [$0.model.runSeconds(.processing)]
            },
            FieldStatement("deliveries not completed, until it stops", "wakes", reports: "3", apple: "3", 3...3) {
                let days = $0.days
                return try $0.results(.noCompletion, .daily).map { ($0.wakesPerDay * days).rounded() }
            },
            FieldStatement(
                "that is after", "h", reports: "hours", apple: "backs off, for how long isn't said", 1...72
            ) { try $0.results(.noCompletion, .daily).map { ($0.deliveryStoppedAfter ?? .infinity) / 3600 } },
        ]
    }

    /// What the app itself sets, as shipped.
    private static var app: [FieldStatement] {
        [
            FieldStatement("a change waits for others (`windowSeconds`)", "s", reports: "1", 1...1) {
                $0.option("windowSeconds")
            },
            FieldStatement("an app refresh is asked for after", "min", reports: "60", apple: "a lower bound", 60...60) {
                [$0.model[.refreshEarliestMinutes]]
            },
            FieldStatement("catch-up is asked for after (`catchUpHours`)", "h", reports: "4 to 6", 4...6) {
                $0.option("catchUpHours")
            },
            FieldStatement("`daily-energy` is asked for after midnight, and", "min", reports: "1", 1...1) {
                $0.option("dailyEnergyHour").map { $0 * 60 + 1 }
            },
            FieldStatement("`remote-sync` is asked for after (`remoteSyncMinutes`)", "min", reports: "15", 15...15) {
                $0.option("remoteSyncMinutes")
            },
        ]
    }
}
