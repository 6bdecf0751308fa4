import HealthModel

/// Which app speaks Health Auto Export's language.
package enum AutoExportDialect: Sendable {
    case healthAutoExport
    /// As read from its source (https://github.com/meltforce/FreeReps, `SyncService.swift`). It sends
    ///
    /// - most samples as `{date, qty, source_uuid}`, without their end and source;
    /// - what is summed up (steps, distances, energy) as sums of hours from all sources, without a UUID;
    /// - both parts of a blood pressure as metrics of their own, under the UUID of the pair;
    /// - what HealthKit has in %, as its fraction.
    case freeReps

    /// The source of an item that names none.
    var unnamedSource: String { self == .freeReps ? "" : HealthAutoExport.sourceName }

    /// What to do about a body that can't be read; empty if the app has nothing to set.
    var hint: String {
        self == .freeReps ? "" : "; set the app's automation to JSON (Export Format), and send it again"
    }

    /// How its entries without a UUID are summed up; nil if a request must show that.
    var aggregation: AutoExportAggregation? { self == .freeReps ? .period(.hour) : nil }

    /// The unit of a workout's duration; nil if it varies.
    var durationUnit: String? { self == .freeReps ? "s" : nil }

    /// As `AutoExportUnits.factors`.
    func factors(_ unit: String, for type: HealthType) -> UnitFactors? {
        guard self == .freeReps else { return AutoExportUnits.factors(unit, for: type) }
        switch (unit, type.unit) {
        case ("%", "%"), ("kg/m²", "count"), ("score", "appleEffortScore"): return .identity
        default: return AutoExportUnits.factors(unit, for: type)
        }
    }

    /// Whether an entry is a sample, though it has only a date.
    func isSample(_ entry: AutoExportItem) -> Bool { self == .freeReps && entry.look("source_uuid") != nil }

    /// - Parameter isFirst: whether it is the first entry of its metric in the request.
    func adjust(_ row: inout AutoExportRow, isFirst: Bool) {
        guard self == .freeReps, row.statistic == .stated(.hour) else { return }
        row.statistic = .app
        // The app asks HealthKit for the samples of a week or more. The first hour begins before that, so its sum lacks
        // some, and must not replace one that was sent while the hour was new.
        if isFirst { row.created = min(row.created, row.start.flooredSecond) }
    }

    /// Whether the UUID is that of this sample alone, as it is in HealthKit.
    func keepsID(of row: AutoExportRow, _ type: HealthType) -> Bool {
        guard self == .freeReps else { return true }
        return row.statistic == nil && !HealthType.bloodPressureParts.contains(type.identifier)
    }
}
