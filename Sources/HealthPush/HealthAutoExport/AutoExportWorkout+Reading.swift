import HealthModel
import HealthStatistics
import JSON

/// The members that a workout and each of its activities may have.
extension AutoExportWorkout {
    mutating func read(_ item: inout AutoExportItem) throws(JSONScanError) {
        readTotals(&item)
        try readHeart(&item)
        try readSeries(&item)
    }

    /// A sum or mean of a metric, `{qty, units}` or `{avg, min, max, units}`; false if it is neither.
    mutating func statistic(ofMetric name: String, _ span: JSONSpan) -> Bool {
        guard let type = AutoExportMetric.named(name)?.type, type.kind == .quantity else { return false }
        if statistic(type.identifier, type.style == .cumulative ? "sum" : "average", span) { return true }
        guard span.kind == .object else { return false }
        let unit = span.value["units"].string.map(AutoExportUnits.healthKit)
        let parts = [("average", "avg"), ("minimum", "min"), ("maximum", "max")].compactMap { name, member in
            span.value[member].double.map { (name, JSONNumber.text($0)) }
        }
        for (name, text) in parts { statistic(type.identifier, name, text, unit) }
        return !parts.isEmpty
    }

    /// The workout's own totals.
    private mutating func readTotals(_ item: inout AutoExportItem) {
        total(
            "totalDistanceMeters", item.scalar("distance") ?? item.scalar("totalDistance"), WorkoutNumbers.distance,
            "distance")
        total(
            "totalEnergyKilocalories", item.scalar("activeEnergyBurned") ?? item.scalar("activeEnergy"),
            WorkoutNumbers.energy,
            "activeEnergyBurned")
        total(
            "totalSwimmingStrokeCount", item.scalar("totalSwimmingStrokeCount"),
            "HKQuantityTypeIdentifierSwimmingStrokeCount", "totalSwimmingStrokeCount")
        total(
            "totalFlightsClimbed", item.scalar("flightsClimbed"), "HKQuantityTypeIdentifierFlightsClimbed",
            "flightsClimbed")
        statistic("HKQuantityTypeIdentifierStepCount", "sum", item.scalar("stepCount"))
    }

    /// Average, minimum and maximum, either as stated or computed from the series. Readings after the end (the recovery)
    /// don't belong to the session.
    private mutating func readHeart(_ item: inout AutoExportItem) throws(JSONScanError) {
        let type = "HKQuantityTypeIdentifierHeartRate"
        let given = [
            ("average", item.scalar("avgHeartRate")), ("minimum", item.scalar("minHeartRate")),
            ("maximum", item.scalar("maxHeartRate")),
        ]
        for (name, span) in given { statistic(type, name, span) }
        if item.look("heartRate")?.kind == .object, let all = item.take("heartRate") {
            var summary = AutoExportItem()
            _ = try summary.read(all)
            let parts = [
                ("average", summary.take("avg")), ("minimum", summary.take("min")), ("maximum", summary.take("max")),
            ]
            for (name, span) in parts where !has(type, name) { statistic(type, name, span) }
        }
        guard let series = try AutoExportSums(item.look("heartRateData"), during: span) else { return }
        let parts = [("average", series.mean), ("minimum", series.least), ("maximum", series.most)]
        for (name, number) in parts where !has(type, name) {
            statistic(type, name, number.map { JSONNumber.text($0) }, nil)
        }
    }

    /// Computes the sums of the series, which are used where the workout states no total. The series themselves stay in
    /// the payload.
    private mutating func readSeries(_ item: inout AutoExportItem) throws(JSONScanError) {
        let distances = members["totalDistanceMeters"] == nil
        let energy = members["totalEnergyKilocalories"] == nil
        let series: [(StaticString, String, Bool)] = [
            ("walkingAndRunningDistance", "DistanceWalkingRunning", distances),
            ("cyclingDistance", "DistanceCycling", distances), ("swimDistance", "DistanceSwimming", distances),
            ("activeEnergy", "ActiveEnergyBurned", energy), ("basalEnergy", "BasalEnergyBurned", true),
            ("stepCount", "StepCount", true), ("swimStroke", "SwimmingStrokeCount", true),
        ]
        for (member, type, isWanted) in series where isWanted {
            guard let sums = try AutoExportSums(item.look(member), during: span), sums.isSum else { continue }
            let unit = sums.unit.map(AutoExportUnits.healthKit).flatMap { $0.isEmpty ? nil : $0 }
            let identifier = "HKQuantityTypeIdentifier" + type
            if !has(identifier, "sum") {
                statistic(identifier, "sum", JSONNumber.text(sums.sum), unit)
            }
        }
    }
}

extension AutoExportItem {
    /// A member that is `{qty, units}` or a number; a series is left unread.
    mutating func scalar(_ name: StaticString) -> JSONSpan? {
        guard let span = look(name), span.kind == .object || span.numberText != nil else { return nil }
        return take(name)
    }
}
