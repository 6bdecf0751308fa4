import Configuration
import HealthModel
import HealthStatistics

/// A figure of one day, explained from the same input that its handler gets.
package struct ExplainedDay {
    package let metric: ExplainedMetric
    let explanation: any Explanation

    /// - Throws: whatever the handler throws for the same input.
    package init(_ metric: ExplainedMetric, _ input: DayInput) throws {
        self.metric = metric
        explanation =
            switch metric.kind {
            case .total: TotalExplanation(metric.type, unit: metric.unit, input)
            case .average, .latest: SampleExplanation(metric.type, kind: metric.kind, unit: metric.unit, input)
            case .sleep: try NightExplanation(input)
            case .standHours, .count: CategoryExplanation(metric.type, kind: metric.kind, input)
            case .workouts: try WorkoutListExplanation(input)
            case .visits: try VisitsExplanation(input)
            }
    }

    /// What the handler of a metric needs from the store.
    package static func traits(of metric: ExplainedMetric) -> any HandlerTraits {
        switch metric.kind {
        case .sleep: SleepTraits()
        case .workouts: WorkoutTraits()
        case .visits: VisitTraits()
        default: PlainTraits()
        }
    }

    private struct PlainTraits: HandlerTraits { let version = 0 }

    private struct SleepTraits: HandlerTraits {
        let version = 0
        let detailedTypes = SleepDay.detailedTypes
        func window(_ configuration: Value) throws -> HandlerWindow { try SleepOptions(configuration).window }
    }

    private struct WorkoutTraits: HandlerTraits {
        let version = 0
        let during = WorkoutsDay.during
        let detailedTypes = WorkoutsDay.detailedTypes
        func window(_ configuration: Value) throws -> HandlerWindow { try WorkoutsDay.window(configuration) }
    }

    private struct VisitTraits: HandlerTraits {
        let version = 0
        let detailedTypes = PlacesDay.payloadTypes
        let characteristics: Set = ["conditions"]
        func window(_ configuration: Value) throws -> HandlerWindow { try PlacesDay.window(configuration) }
    }

    /// The figure that results from the samples; nil if there are none.
    package var result: Double? { explanation.result }
    /// The result as people see it, such as "96.3 %"; nil if there are no samples.
    package var headline: String? { explanation.headline(metric.kind == .count ? "count" : metric.unit) }
    /// What `explain --json` contains besides the figure.
    package var members: [String: Value] { explanation.members }

    /// Whether a day's summary agrees with the explanation in all members that are explained.
    package func agrees(with summary: Value) -> Bool {
        metric.figure(in: summary) == result
            && explanation.figures.allSatisfy { name, figure in
                figure.comparable == summary[name].comparable
            }
    }
}

extension Value {
    /// The same value with all numbers in one form, and without empty lists and heart rate zones, because zones also
    /// depend on the person's age, which isn't known here.
    fileprivate var comparable: Value {
        if let number = double { return .number(number) }
        if let elements = array { return elements.isEmpty ? .null : .array(elements.map(\.comparable)) }
        guard let members = object else { return self }
        return .object(members.filter { $0.key != "heartRateZones" }.mapValues(\.comparable))
    }
}
