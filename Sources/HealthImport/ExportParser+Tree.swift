import CXMLStream
import HealthModel

extension ExportParser {
    mutating func endTree(_ whole: ElementTree) {
        let isTooLarge = tree.isTooLarge
        tree.reset()
        if isTooLarge { return quarantine(line: outer.line, "the element is longer than 2 MiB", raw: outerRaw) }
        if let outerProblem { return quarantine(line: outer.line, outerProblem, raw: outerRaw) }
        switch whole.name {
        case "ActivitySummary": endSummary(whole)
        case "Workout": endWorkout(whole)
        default: endOther(whole)
        }
    }

    private mutating func endSummary(_ tree: ElementTree) {
        switch SummaryBody.record(tree) {
        case .day(let record): deliver(record)
        case .noDay: summary.activitySummariesWithoutDay += 1
        case .unreadable(let reason): quarantine(line: tree.line, reason, raw: outerRaw)
        }
    }

    private mutating func endWorkout(_ tree: ElementTree) {
        guard let activity = tree.attribute("workoutActivityType"), !activity.isEmpty else {
            return quarantine(line: tree.line, "there is no workoutActivityType", raw: outerRaw)
        }
        let inlinePath = inlineRoutePath
        inlineRoutePath = nil
        if let problem = stage(
            tree, type: HealthType.workoutIdentifier, start: tree.attribute("startDate"), end: tree.attribute("endDate")
        ) {
            return quarantine(line: tree.line, problem, raw: outerRaw)
        }
        let body = WorkoutBody(tree, inlineRoute: inlinePath, start: outer.start, end: outer.end)
        summary.workoutValuesLeftOut += body.leftOut
        if let route = body.route {
            let workout = WorkoutRoute.Workout(
                start: outer.start, end: outer.end, sourceName: names.sourceName(outer))
            remember(workout, of: route)
            if var points = inlineRoute {
                points.workout = workout
                points.isLast = true
                inlineRoute = nil
                summary.workouts += 1
                deliverOuter(body.payload)
                return deliver(points)
            }
        }
        summary.workouts += 1
        deliverOuter(body.payload)
    }

    /// Audiograms, prescriptions, clinical records and what later versions may bring: a row without number, everything else in the payload.
    private mutating func endOther(_ tree: ElementTree) {
        if ExportElement.isMiswritten(tree.name) {
            return quarantine(
                line: tree.line, "the element's name isn't written as exports write it: upper and lower case count",
                raw: outerRaw)
        }
        guard let type = tree.attribute("type"), !type.isEmpty else {
            return quarantine(line: tree.line, "the element isn't known and has no type", raw: outerRaw)
        }
        if HealthType.known(type)?.kind == .quantity {
            return quarantine(
                line: tree.line, "the element isn't known, and its type is one of a Record", raw: outerRaw)
        }
        let dates = ["startDate", "dateIssued", "receivedDate"]
        let start = dates.lazy.compactMap { tree.attribute($0) }.first
        if let problem = stage(tree, type: type, start: start, end: tree.attribute("endDate") ?? start) {
            return quarantine(line: tree.line, problem, raw: outerRaw)
        }
        summary.otherSamples += 1
        deliverOuter(OtherBody.payload(tree))
    }

    private mutating func stage(_ tree: ElementTree, type: String, start: String?, end: String?) -> String? {
        guard let start else { return "there is no startDate" }
        guard let startDate = InstantText.parse(start) else { return "startDate isn't a date" }
        guard let end else { return "there is no endDate" }
        guard let endDate = InstantText.parse(end) else { return "endDate isn't a date" }
        outer.start = startDate
        outer.end = endDate
        outer.created = tree.attribute("creationDate").flatMap { InstantText.parse($0)?.flooredSecond } ?? 0
        let name = Array((tree.attribute("sourceName") ?? tree.attribute("source") ?? "").utf8)
        let version = Array((tree.attribute("sourceVersion") ?? "").utf8)
        let device = Array((tree.attribute("device") ?? "").utf8)
        outer.kind = Array(type.utf8).withUnsafeBufferPointer { names.kind(type: $0, unit: nil) }
        if let flaw = names.kinds[Int(outer.kind)].flaw, flaw == .longType { return flaw.rawValue }
        outer.origin = name.withUnsafeBufferPointer { name in
            version.withUnsafeBufferPointer { version in
                device.withUnsafeBufferPointer { names.origin(name: name, version: version, device: $0) }
            }
        }
        for entry in tree.children("MetadataEntry") {
            let key = Array((entry.attribute("key") ?? "").utf8)
            let value = Array((entry.attribute("value") ?? "").utf8)
            key.withUnsafeBufferPointer { key in
                value.withUnsafeBufferPointer { value in
                    Self.append(key, value, &outerMetadata, &outer.flags, &outerProblem)
                }
            }
        }
        return outerProblem
    }
}

/// The payload of an element that has no form of its own here.
enum OtherBody {
    static func payload(_ tree: ElementTree) -> Value {
        // Type, dates and source are columns already; metadata have theirs.
        let columns = ExportAttribute.ofColumns.map(\.name)
        var members: [String: Value] = ["element": .string(tree.name)]
        for (name, value) in tree.attributes where !columns.contains(name) { members[name] = .string(value) }
        let children = tree.children.filter { $0.name != "MetadataEntry" }
        if !children.isEmpty { members["children"] = .array(children.map { whole($0) }) }
        return .object(members)
    }

    private static func whole(_ tree: ElementTree) -> Value {
        var members: [String: Value] = ["element": .string(tree.name)]
        for (name, value) in tree.attributes { members[name] = .string(value) }
        if !tree.children.isEmpty { members["children"] = .array(tree.children.map { whole($0) }) }
        return .object(members)
    }
}
