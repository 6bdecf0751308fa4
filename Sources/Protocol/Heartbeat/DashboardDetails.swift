/// What a dashboard says beside where it stands.
package struct DashboardDetails: Codable, Sendable, Equatable {
    /// Where it listens; another port than the configuration's when that was taken.
    package var dashboardPort: Int
    /// Pages that look at what is live.
    package var viewers: Int

    package init(dashboardPort: Int, viewers: Int = 0) {
        (self.dashboardPort, self.viewers) = (dashboardPort, viewers)
    }
}
