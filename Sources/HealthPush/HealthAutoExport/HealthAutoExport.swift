import HealthModel
import JSON

/// What the iPhone app Health Auto Export posts: `{"data": {"metrics": […], "workouts": […], …}}`, each section
/// optional, members in any order.
///
/// - `metrics`: `[{name, units, data: […]}]`, see `AutoExportMetric`. Each entry of `data` is an item.
/// - `workouts`, `symptoms`, `cycleTracking`, `ecg`, `heartRateNotifications`, `stateOfMind`, `medications`: each
///   element of these is an item.
///
/// **Samples and statistics.** The app sends samples one by one, or aggregated over periods ("Summarize Data"). Both
/// look alike, and nothing in the body distinguishes them. So:
///
/// 1. An entry with its own start and end is a sample, because only samples have them.
/// 2. However, an entry whose minimum and maximum differ is always a statistic, because no sample has two values.
/// 3. Otherwise the request's header `automation-aggregation` decides. If it is `none` or `off`, the entry is a sample.
///    If it is a period, the entry is a statistic for the period that begins at its `date`. The exception is a mean
///    (weight, temperature) whose `date` isn't the beginning of a period: it is a measurement with its own time.
/// 4. Without that header, all of the metric's `date`s decide together: if all are at midnight, the periods are days;
///    if all are at whole hours, they are hours; if all are at whole minutes, they are minutes; otherwise each entry is
///    a sample at its instant. They decide together because a day's first hour begins at midnight too. The header value
///    `Default` means minutes at most, according to the app's manual.
///
/// A statistic has a type of its own (`HealthType.statistics(of:)`). It lasts from the beginning to the end of its
/// period, its value is the sum for a cumulative type and the mean for any other, and its payload is `{"maximum",
/// "minimum"}` if they are given. While a period is in progress, the app sends its statistic repeatedly, so `created`
/// is the time at which the request was received: of two statistics for one period, the later one wins. A day ends at
/// the next day's `date`, if the metric has one. Otherwise its end is assumed to have the same offset as its start;
/// `RecordBatch.endDays` corrects that once the person's zone is known.
///
/// A sum of something measured over time (steps, energy) that would be a sample at an instant is a statistic too, until
/// its source's next one, at most ten minutes: HealthKit has no such instants, so they would match no other way's
/// samples, and those of several devices would all count.
///
/// Nothing happens silently: anything not understood is in `quarantined`, unchanged, up to 4 KiB, and `taken` counts what
/// became a statistic by which rule.
package enum HealthAutoExport {
    /// The name of the source for an item that names none.
    package static let sourceName = Origin.autoExportSource

    /// Decodes one request.
    /// - Parameters:
    ///   - stated: the request's header `automation-aggregation`.
    ///   - now: when the request was received.
    ///   - limit: items beyond this many are only counted.
    ///   - dialect: which app sends it.
    /// - Throws: if the body isn't JSON, or has no object `data`; in that case none of it is accepted.
    package static func changes(
        in body: [UInt8], aggregation stated: String?, now: Instant, limit: Int64 = .max,
        dialect: AutoExportDialect = .healthAutoExport
    ) throws(PushError) -> PushedChanges {
        let hint = dialect.hint
        guard JSONScanner.isUTF8(body) else { throw PushError("the body isn't UTF-8\(hint)") }
        var reader = AutoExportReader(aggregation: stated, now: now, dialect: dialect)
        reader.rows.limit = limit
        let problem = body.withUnsafeBytes { bytes -> PushError? in
            do throws(JSONScanError) {
                return try reader.read(bytes) ? nil : PushError("the body has no object 'data'\(hint)")
            } catch {
                return PushError("the body isn't JSON: \(error)\(hint)")
            }
        }
        if let problem { throw problem }
        return reader.rows.finished
    }

    /// Decodes a file that the app has written, which has the form of a request, in pieces of a few thousand records.
    /// Numbers of items continue through all pieces.
    /// - Parameters:
    ///   - text: the whole file.
    ///   - written: when it was written, which decides between two statistics of one period.
    ///   - take: takes a piece; an error ends the reading and is thrown.
    /// - Throws: `PushError` if it isn't JSON or has no object `data`; in that case, nothing was taken.
    package static func read(
        file text: UnsafeRawBufferPointer, written: Instant, take: @escaping (PushedChanges) throws -> Void
    ) throws {
        let start = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = UnsafeRawBufferPointer(rebasing: text[start...])
        guard JSONScanner.isUTF8(text) else { throw PushError("isn't UTF-8") }
        var reader = AutoExportReader(aggregation: nil, now: written)
        reader.rows.deliver = take
        let hasData: Bool
        do throws(JSONScanError) {
            // Damage behind the data is found before anything is taken.
            var whole = JSONScanner(text)
            _ = try whole.value()
            try whole.end()
            hasData = try reader.read(text)
        } catch { throw PushError("isn't well-formed: \(error)") }
        guard hasData else { throw PushError("has no object 'data'") }
        reader.rows.handOver()
        if let failure = reader.rows.failure { throw failure }
    }

    /// Reads one quarantined item again. A metric's is kept inside its metric, any other inside its section. The time at
    /// which it was sent is no longer known, so any other version of a statistic counts as newer.
    static func reread(_ raw: String, dialect: AutoExportDialect = .healthAutoExport) -> PushedChanges? {
        guard let members = try? Value(json: raw.utf8).object else { return nil }
        let data = members["data"] == nil ? raw : "{\"metrics\":[\(raw)]}"
        return try? changes(
            in: Array("{\"data\":\(data)}".utf8), aggregation: members["aggregation"]?.string, now: .epoch,
            dialect: dialect)
    }
}
