import HealthModel
import JSON

/// What the iPhone app Health Auto Export posts: `{"data": {"metrics": […], "workouts": […], …}}`, each part optional, members
/// in any order.
///
/// - `metrics`: `[{name, units, data: […]}]`, see `AutoExportMetric`. Each entry of `data` is an item.
/// - `workouts`, `symptoms`, `cycleTracking`, `ecg`, `heartRateNotifications`, `stateOfMind`, `medications`: each element is an
///   item.
///
/// **Samples and statistics.** The app sends samples one by one, or what it has added up over periods ("Summarize Data"); both
/// look alike, and nothing in the body tells them apart. So:
///
/// 1. An entry with a start and an end of its own is a sample: only samples have them.
/// 2. One whose minimum and maximum differ is a statistic all the same: no sample has two values.
/// 3. Else the request's header `automation-aggregation` decides. `none` or `off`: a sample. A period: a statistic of the period
///    that begins at the entry's `date`, but for a mean (weight, temperature) whose `date` isn't where a period begins: that is a
///    measurement with its own time.
/// 4. Without that header the `date`s of the metric tell, together: all at midnight are days, all at whole hours hours, all at
///    whole minutes minutes; else each is a sample at its instant. Together, since the first hour of a day begins at midnight
///    too. The header `Default` says minutes at most, as the app's manual has it.
///
/// A statistic has a type of its own (`HealthType.statistics(of:)`): it lasts from the beginning to the end of its period, its
/// value is the sum of a cumulative type and the mean of any other, its payload `{"maximum", "minimum"}` where they are told. The
/// app states a period again while it goes on, so `created` is when the request came: of two statements of one period the later
/// holds. A day's end is taken to have the offset that is printed at its start, so days with a change of clocks are an hour off.
///
/// Nothing is dropped in silence: what isn't understood is in `quarantined`, as it was, up to 4 KiB.
package enum HealthAutoExport {
    /// The name of the source where an item tells none.
    package static let sourceName = Origin.autoExportSource

    /// Decodes one request.
    /// - Parameters:
    ///   - headers: of the request, in any case; `automation-aggregation` is the only one that is read.
    ///   - now: when the request came.
    /// - Throws: when the body isn't JSON or has no object `data`; nothing of it was taken then.
    package static func changes(
        in body: [UInt8], headers: [String: String], now: Instant
    ) throws(PushError) -> PushedChanges {
        guard JSONScanner.isUTF8(body) else { throw PushError("the body isn't UTF-8; \(hint)") }
        let stated = headers.first { $0.key.lowercased() == "automation-aggregation" }?.value
        var reader = AutoExportReader(aggregation: stated, now: now)
        let problem = body.withUnsafeBytes { bytes -> PushError? in
            do throws(JSONScanError) {
                return try reader.read(bytes) ? nil : PushError("the body has no object 'data'; \(hint)")
            } catch {
                return PushError("the body isn't JSON: \(error); \(hint)")
            }
        }
        if let problem { throw problem }
        return reader.rows.finished()
    }

    private static let hint = "let the app's automation send JSON (Export Format), and send it again"
}
