import Configuration
import HealthModel
import Protocol

extension StatusReport {
    /// Where the stack shows its page, and how many viewers it has: `{address, port, viewers}`; null if no dashboard is
    /// running.
    static func dashboard(_ instance: StackConfiguration.Instance?, _ beat: Heartbeat?) throws -> Value {
        guard let instance, let told = beat?.dashboard else { return .null }
        let address = DashboardAddress.url(try DashboardAddress.endpoint(of: instance), port: told.dashboardPort)
        return [
            "address": .string(address), "port": .integer(Int64(told.dashboardPort)),
            "viewers": .integer(Int64(told.viewers)),
        ]
    }

    /// A line about the dashboard; empty when nothing is known.
    static func dashboardText(_ dashboard: Value) -> String {
        dashboard["address"].string.map { "Page: \($0)\n" } ?? ""
    }
}
