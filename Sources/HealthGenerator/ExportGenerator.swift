import Foundation
import HealthModel

/// The system of units that an export prints; the generated data is the same in both systems.
package enum UnitSystem: String, Sendable, CaseIterable {
    case metric, imperial
}

/// Writes the export of an invented person: a zip archive like those from the Health app. The same options give the
/// same bytes everywhere.
///
/// If no number of records is given, a day's samples depend only on the seed, the zone and the date: a longer period
/// contains the samples of a shorter one, except for the height, which is entered on the first day, and for what
/// changes from one export of a messy life to the next.
package struct ExportGenerator: Sendable {
    package struct Options: Sendable {
        package var days: Int
        package var seed: UInt64
        /// The exact number of `Record` elements, if none is left out because of `now`; nil for an ordinary life, which has about 1,150 a day.
        package var records: Int?
        /// IANA name of the zone where the person lives.
        package var zone: String
        /// The last day; the export is made the next morning.
        package var end: LocalDay
        package var unitSystem: UnitSystem
        /// Nothing that was stored after this moment is written, and the export isn't made later; nil if all days are over.
        package var now: Instant?
        /// Whether the export is marked as made up, so that no store mistakes it for a real person's.
        package var isMarked: Bool
        /// Whether other apps and a careless owner add what real exports suffer from (`Mess`). Not with `records`.
        package var isMessy: Bool

        package init(
            days: Int, seed: UInt64, records: Int? = nil, zone: String = "Europe/Berlin",
            end: LocalDay = LocalDay(year: 2025, month: 4, day: 5), unitSystem: UnitSystem = .metric,
            now: Instant? = nil, isMarked: Bool = false, isMessy: Bool = false
        ) {
            (self.days, self.seed, self.records, self.zone, self.end) = (days, seed, records, zone, end)
            (self.unitSystem, self.now, self.isMarked, self.isMessy) = (unitSystem, now, isMarked, isMessy)
        }
    }

    /// What was written.
    package struct Result: Sendable, Equatable {
        /// `Record` elements, including those in correlations.
        package var records = 0
        package var correlations = 0
        package var workouts = 0
        package var routes = 0
        /// Size of export.xml, unpacked.
        package var bytes = 0
    }

    package let options: Options
    let zones: ZoneTimeline

    /// - Throws: `GeneratorError.invalidOption`, `ZoneError`.
    package init(_ options: Options) throws {
        guard (1...36_525).contains(options.days) else {
            throw GeneratorError.invalidOption("\(options.days) days can't be generated", hint: "give 1 to 36525")
        }
        if let records = options.records, !(0...100_000_000).contains(records) {
            throw GeneratorError.invalidOption("\(records) records can't be generated", hint: "give 0 to 100000000")
        }
        guard options.records == nil || !options.isMessy else {
            throw GeneratorError.invalidOption(
                "a messy life has as many records as it has", hint: "leave out the number of records")
        }
        self.options = options
        zones =
            options.isMessy
            ? try Mess.travels(
                options.zone, from: options.end.adding(days: -options.days), to: options.end, options.seed)
            : try ZoneTimeline(zone: options.zone)
    }

    /// Writes the archive under another name first, so that a file with the final name is always complete.
    ///
    /// - Parameter progress: records written so far and in total; called after each type and source, and at the end.
    @discardableResult
    package func write(to path: String, progress: (Int, Int) -> Void = { _, _ in }) throws -> Result {
        let partial = path + ".partial"
        do {
            let result = try writeArchive(partial, progress)
            guard rename(partial, path) == 0 else {
                throw GeneratorError.unwritable(path: path, reason: String(cString: strerror(errno)))
            }
            return result
        } catch {
            unlink(partial)
            throw error
        }
    }

    private func writeArchive(_ path: String, _ progress: (Int, Int) -> Void) throws -> Result {
        let until = options.now?.flooredSecond ?? .max
        let life = Life(
            days: options.days, end: options.end, zones: zones, seed: options.seed, until: until,
            isMessy: options.isMessy)
        guard let last = life.plans.last else {
            throw GeneratorError.invalidOption("the zone has none of these days", hint: "choose other days")
        }
        let exported = min(last.dayEnd + 8 * 3600 + 900, until)
        guard let zone = TimeZone(identifier: options.zone) else { throw ZoneError.unknown(options.zone) }
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(exported)))
        let zip = try ZipWriter(path: path)
        var result = Result()
        try zip.begin("apple_health_export/export.xml")
        var text = ExportText(zip: zip, offset: offset)
        let document = DocumentWriter(self, life, exported: exported)
        document.write(&text, &result, progress)
        try text.flush()
        result.bytes = text.total
        try zip.begin("apple_health_export/export_cda.xml")
        var clinical = ExportText(zip: zip, offset: offset)
        clinical.append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <ClinicalDocument xmlns="urn:hl7-org:v3"><title>Health Data Export</title></ClinicalDocument>

            """ as StaticString)
        try clinical.flush()
        let routes = RouteWriter(person: life.person)
        for plan in life.plans {
            guard plan.workout(storedBy: until) != nil, let name = WorkoutWriter.routePath(plan) else { continue }
            try zip.begin("apple_health_export" + name)
            var route = ExportText(zip: zip, offset: offset)
            routes.write(plan, &route)
            try route.flush()
            result.routes += 1
        }
        try zip.close()
        return result
    }
}
