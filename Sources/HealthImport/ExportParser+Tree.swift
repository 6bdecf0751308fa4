import CXMLStream
import HealthModel

extension ExportParser {
    mutating func endTree(_ whole: ElementTree) {
        let isTooLarge = tree.isTooLarge
        tree.reset()
        let route = takeInlineRoute()
        if let problem = isTooLarge ? "the element is longer than 2 MiB" : outerProblem {
            return quarantine(line: outer.line, problem, raw: outerRaw)
        }
        switch whole.name {
        case "ActivitySummary": endSummary(whole)
        case "Workout": endWorkout(whole, route)
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

    private mutating func endWorkout(_ tree: ElementTree, _ inline: (path: String?, points: WorkoutRoute?)) {
        guard let activity = tree.attribute("workoutActivityType"), !activity.isEmpty else {
            return quarantine(line: tree.line, "there is no workoutActivityType", raw: outerRaw)
        }
        if let problem = stage(
            tree, type: HealthType.workoutIdentifier, start: tree.attribute("startDate"), end: tree.attribute("endDate")
        ) {
            return quarantine(line: tree.line, problem, raw: outerRaw)
        }
        let body = WorkoutBody(tree, inlineRoute: inline.path, start: outer.start, end: outer.end)
        summary.workoutValuesLeftOut += body.leftOut
        if let route = body.route {
            let workout = WorkoutRoute.Workout(
                start: outer.start, end: outer.end, sourceName: names.sourceName(outer))
            remember(workout, of: route)
            if var points = inline.points {
                points.workout = workout
                points.isLast = true
                summary.workouts += 1
                deliverOuter(body.payload)
                return deliver(points)
            }
        }
        summary.workouts += 1
        deliverOuter(body.payload)
    }

    /// Handles audiograms, prescriptions, clinical records and whatever later versions add: each becomes a row without
    /// a number, with everything else in the payload.
    private mutating func endOther(_ tree: ElementTree) {
        if ExportElement.isMiswritten(tree.name) {
            return quarantine(
                line: tree.line, "the element's name isn't written as exports write it: upper and lower case count",
                raw: outerRaw)
        }
        let start = ElementSample.dates.lazy.compactMap { tree.attribute($0) }.first
        // A name alone isn't enough to make a sample.
        guard let type = ElementSample.type(of: tree), start != nil || type != tree.name else {
            return quarantine(line: tree.line, "the element isn't known and has no type", raw: outerRaw)
        }
        if HealthType.known(type)?.kind == .quantity {
            return quarantine(
                line: tree.line, "the element isn't known, and its type is one for a Record", raw: outerRaw)
        }
        if let problem = stage(tree, type: type, start: start, end: tree.attribute("endDate") ?? start) {
            return quarantine(line: tree.line, problem, raw: outerRaw)
        }
        summary.otherSamples += 1
        rememberFiles(of: tree, type: type)
        deliverOuter(ElementSample.payload(tree, type: type))
    }

    /// Files in the archive that the element refers to: a clinical record's by its path, attachments by their names.
    private mutating func rememberFiles(of tree: ElementTree, type: String) {
        let names =
            [tree.attribute("resourceFilePath")]
            + tree.children("Attachment").flatMap { [$0.attribute("identifier"), $0.attribute("path")] }
        for name in names.compactMap({ $0 }) where !name.isEmpty {
            let reference = DocumentReference(
                element: tree.name, type: type, identifier: tree.attribute("identifier") ?? "",
                sourceName: self.names.sourceName(outer), received: outer.start)
            remember(reference, of: name)
        }
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
