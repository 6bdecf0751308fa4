/// What a dashboard reports besides its position.
package struct DashboardDetails: Codable, Sendable, Equatable {
    /// The port that it listens on; not the configured one if that was in use.
    package var dashboardPort: Int
    /// The number of open pages that follow live data.
    package var viewers: Int

    package init(dashboardPort: Int, viewers: Int = 0) { (self.dashboardPort, self.viewers) = (dashboardPort, viewers) }
}
