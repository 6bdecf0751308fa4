import HealthModel
import HealthStatistics

/// Visits to the places that a person has monitored, and the time spent there (`PlacesDay`).
///
/// Fixes are location samples and the tracks of workouts. The places are conditions: the host keeps them, and passes
/// them by name.
public struct PlacesHandler: PluginHandler {
    public let version = 2
    public let payloadTypes = PlacesDay.payloadTypes
    public let characteristics: Set = ["conditions"]

    public init() {}

    public func window(_ configuration: Value) throws -> HandlerWindow { try PlacesDay.window(configuration) }

    public func condition(_ name: String, _ value: Value) throws -> Value {
        try PlaceCondition.checked(name: name, value)
    }

    public func conditionLimit(_ configuration: Value) -> Int { Int(configuration["limit"].int ?? 1000) }

    public func compute(_ input: DayInput) throws -> DayOutput { try PlacesDay(input).output }
}
