/// A workout's route, or a part of a long one, in columns of equal length.
package struct WorkoutRoute: Sendable, Equatable {
    /// The maximum number of points delivered at once.
    package static let pointLimit = 8192

    /// For a route in a file, "/workout-routes/" and the file's name ("/workout-routes/route_2025-03-30_9.00am.gpx").
    /// For a route inside its workout, "inline/" and the route's start or, failing that, its line.
    package var path: String
    /// The workout that refers to the route; nil when none does.
    package var workout: Workout?
    /// The number of points of this route that were delivered before these.
    package var firstPoint: Int
    /// Whether the route ends here; false if its file ends early or isn't well-formed.
    package var isLast = false
    package var time: [Instant] = []
    /// Degrees, WGS 84.
    package var latitude: [Double] = []
    package var longitude: [Double] = []
    /// Metres; NaN if missing, as in the columns below.
    package var elevation: [Double] = []
    /// m/s.
    package var speed: [Double] = []
    /// Degrees clockwise from north; negative when the phone didn't know.
    package var course: [Double] = []
    /// Metres.
    package var horizontalAccuracy: [Double] = []
    package var verticalAccuracy: [Double] = []

    package struct Workout: Sendable, Hashable {
        package var start: Instant
        package var end: Instant
        package var sourceName: String

        package init(start: Instant, end: Instant, sourceName: String) {
            (self.start, self.end, self.sourceName) = (start, end, sourceName)
        }
    }

    package init(path: String, workout: Workout?, firstPoint: Int = 0) {
        (self.path, self.workout, self.firstPoint) = (path, workout, firstPoint)
    }

    package var count: Int { time.count }

    /// The same route without points, ready for the points that follow.
    package var next: WorkoutRoute { WorkoutRoute(path: path, workout: workout, firstPoint: firstPoint + count) }
}
