import HealthModel
import JSON

// What a record is in HealthKit.
extension LifeDashboardRecord {
    /// - Parameter isAndroid: whether the payload is from Health Connect.
    func rows(
        of kind: LifeDashboardKind, item: Int64, isAndroid: Bool
    ) throws(SampleProblem) -> [RecordRows.Row] {
        switch kind {
        case .quantity(let number): return [try quantity(number, item)]
        case .variability:
            let name = isAndroid ? "HeartRateVariabilityRMSSD" : "HeartRateVariabilitySDNN"
            return [try quantity(LifeDashboardNumber("heart_rate_variability_millis", name, "ms"), item)]
        // What `active_calories` has too is known by its id.
        case .totalEnergy: return [try quantity(Self.total, item)]
        case .workout: return [try workout(item)]
        case .sleep: return []
        case .bloodPressure: return try bloodPressure(item)
        case .food: return try food(item)
        case .event(let event): return [try self.event(event, item)]
        case .derived: return []
        }
    }

    private static let total = LifeDashboardNumber("calories", "TotalEnergyBurned", "kcal")

    private func quantity(_ number: LifeDashboardNumber, _ item: Int64) throws(SampleProblem) -> RecordRows.Row {
        var row = try row(item: item)
        (row.type, row.unit) = (number.type, number.unit)
        guard isBucket else {
            row.value = try self.number(number)
            row.flags.insert(.coarse)
            return row
        }
        return try bucket(row, number)
    }

    /// Of two statistics for one stretch of time, the one of more records counts: a record that comes late is sent in a
    /// bucket of its own, without the others.
    private func bucket(_ row: RecordRows.Row, _ number: LifeDashboardNumber) throws(SampleProblem) -> RecordRows.Row {
        var row = row
        guard row.end > row.start, let count = member("sample_count")?.integer, count > 0 else {
            throw SampleProblem(reason: "a bucket has a start, an end and a sample_count")
        }
        let isSum = member("total") != nil
        row.value = try self.number(number, isSum ? "total" : "avg")
        if !isSum {
            let spread: [String: Value] = [
                "minimum": .number(try self.number(number, "min")), "maximum": .number(try self.number(number, "max")),
            ]
            row.payload = Array(Value.object(spread).json().utf8)
        }
        row.origin = Origin(sourceName: try sources())
        row.type = HealthType.statistics(of: row.type)
        row.created = row.end.flooredSecond + min(count, 1 << 20)
        return row
    }

    private func sources() throws(SampleProblem) -> String {
        guard let span = member("sources") else { return "" }
        guard let names = try? Value(json: span.whole).array?.compactMap(\.string) else {
            throw SampleProblem(reason: "sources isn't a list of names")
        }
        return names.sorted().joined(separator: ", ")
    }

    /// Its duration contains pauses, which HealthKit's doesn't, so it is left out.
    private func workout(_ item: Int64) throws(SampleProblem) -> RecordRows.Row {
        var row = try row(item: item)
        guard let name = member("type")?.text else { throw SampleProblem(reason: "type isn't an activity") }
        row.type = HealthType.workoutIdentifier
        let activity = Value.string(LifeDashboardActivity.identifier(of: name))
        row.payload = Array(Value.object(["activity": activity]).json().utf8)
        return row
    }

    private func event(_ event: LifeDashboardEvent, _ item: Int64) throws(SampleProblem) -> RecordRows.Row {
        var row = try row(item: item)
        (row.type, row.value) = (event.type, 0)
        row.flags.insert(.coarse)
        if let member = event.member {
            guard let value = self.member(member)?.text.flatMap({ event.values[$0] }) else {
                throw SampleProblem(reason: "\(member) isn't one of those known")
            }
            row.value = Double(value)
        }
        if let used = self.member("protection_used")?.text, used != "unknown" {
            row.metadata = Array("{\"HKSexualActivityProtectionUsed\":\(used == "protected" ? 1 : 0)}".utf8)
        }
        return row
    }

    /// A reading is a correlation in HealthKit; its id here is that of the systolic sample.
    private func bloodPressure(_ item: Int64) throws(SampleProblem) -> [RecordRows.Row] {
        let parts = [
            LifeDashboardNumber("systolic", "BloodPressureSystolic", "mmHg"),
            LifeDashboardNumber("diastolic", "BloodPressureDiastolic", "mmHg"),
        ]
        return try correlation(HealthType.bloodPressure, parts, item)
    }

    /// A food is a correlation of its nutrients; its id here is that of the first of `leads` that it has.
    private func food(_ item: Int64) throws(SampleProblem) -> [RecordRows.Row] {
        let nutrients = others.compactMap { member in member.name.text.flatMap { LifeDashboardFood.nutrients[$0] } }
        let lead = LifeDashboardFood.leads.first { name in nutrients.contains { $0.member == name } }
        guard let lead else { throw SampleProblem(reason: "a food has energy, protein, carbohydrates or fat") }
        let ordered = nutrients.filter { $0.member == lead } + nutrients.filter { $0.member != lead }
        guard ordered.count > 1 else { return [try quantity(ordered[0], item)] }
        var rows = try correlation(HealthType.food, ordered, item)
        if let name = member("name")?.text, !name.isEmpty, name.utf8.count <= 1000 {
            rows[0].metadata = Array(Value.object(["HKFoodType": .string(name)]).json().utf8)
        }
        return rows
    }

    /// - Parameter parts: the first has the record's id, which stands for all.
    private func correlation(
        _ type: String, _ parts: [LifeDashboardNumber], _ item: Int64
    ) throws(SampleProblem) -> [RecordRows.Row] {
        var whole = try row(item: item)
        var rows: [RecordRows.Row] = []
        for part in parts {
            var row = whole
            (row.type, row.unit, row.value) = (part.type, part.unit, try number(part))
            row.flags = [.coarse, .correlationChild]
            row.uuid = rows.isEmpty ? whole.uuid : nil
            rows.append(row)
        }
        (whole.type, whole.uuid, whole.flags) = (type, nil, [.coarse])
        let list = rows.map { Value(partOfType: $0.type, unit: $0.unit, $0.value, $0.start, $0.end) }
        whole.payload = Array(Value.object(["parts": .array(list)]).json().utf8)
        return [whole] + rows
    }
}
