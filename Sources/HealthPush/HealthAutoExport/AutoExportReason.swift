/// Why an entry is a statistic rather than a sample, by the rules described at `HealthAutoExport`.
enum AutoExportReason: Hashable {
    /// The request's header states this period.
    case stated(AutoExportPeriod)
    /// All of the metric's dates begin such a period.
    case dates(AutoExportPeriod)
    /// The minimum and maximum differ.
    case spread
    /// It is measured over time, and has only a date.
    case point
    case count
    case night
    /// The app sums it up itself.
    case app

    /// For a person, without health values.
    var text: String {
        switch self {
        case .stated(let period): "the header 'automation-aggregation' says \(period)s"
        case .dates(.minute): "all of the metric's dates are on whole minutes"
        case .dates(.hour): "all of the metric's dates are on whole hours"
        case .dates: "all of the metric's dates are at midnight"
        case .spread: "its minimum and maximum differ"
        case .point: "it is measured over time, but has only a date"
        case .count: "it is a count of events"
        case .night: "it is a whole night"
        case .app: "the app sends it only as sums of hours"
        }
    }
}
