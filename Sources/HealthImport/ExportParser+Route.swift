import CXMLStream
import HealthModel
import JSON

// Routes inside their workout, as in exports from iOS 11 to 12.
extension ExportParser {
    mutating func startInlineRoute(_ element: UnsafePointer<healthbus_xml_element>) {
        // Of several routes, the first one with points counts, as in files.
        isFurtherRoute = inlineRoute != nil
        guard !isFurtherRoute else { return }
        let start = element.attribute(.startDate).flatMap { InstantText.parse($0) }
        inlineRoutePath = "inline/" + (start.map { InstantText.iso8601($0) } ?? "line-\(element.pointee.line)")
    }

    mutating func location(_ element: UnsafePointer<healthbus_xml_element>) {
        func number(_ attribute: ExportAttribute) -> Double? {
            element.attribute(attribute).flatMap { DecimalText.parse($0) }
        }
        guard !isFurtherRoute, let path = inlineRoutePath,
            let time = element.attribute(.date).flatMap({ InstantText.parse($0) }),
            let latitude = number(.latitude), let longitude = number(.longitude)
        else {
            summary.routePointsUnreadable += 1
            return
        }
        var route = inlineRoute ?? WorkoutRoute(path: path, workout: nil)
        inlineRoute = nil
        if route.count == WorkoutRoute.pointLimit {
            route.workout = route.workout ?? openWorkout
            deliver(route)
            route = route.next
        }
        route.append(
            time: time, latitude: latitude, longitude: longitude, elevation: number(.altitude), speed: number(.speed),
            course: number(.course), horizontalAccuracy: number(.horizontalAccuracy),
            verticalAccuracy: number(.verticalAccuracy))
        inlineRoute = route
    }

    /// The workout that contains the route; its row doesn't exist yet.
    private var openWorkout: WorkoutRoute.Workout? {
        func date(_ name: String) -> Instant? { tree.rootAttribute(name).flatMap { InstantText.parse($0) } }
        guard let start = date("startDate"), let end = date("endDate") else { return nil }
        return WorkoutRoute.Workout(start: start, end: end, sourceName: tree.rootAttribute("sourceName") ?? "")
    }

    /// The last points are held until the workout's row has been delivered; a route without points doesn't count as a
    /// route.
    mutating func endInlineRoute() {
        if inlineRoute == nil { inlineRoutePath = nil }
        isFurtherRoute = false
    }

    /// The route of the element that ends, which is then forgotten, whatever becomes of the element: otherwise the next
    /// workout would get this one's points.
    mutating func takeInlineRoute() -> (path: String?, points: WorkoutRoute?) {
        defer { (inlineRoutePath, inlineRoute, isFurtherRoute) = (nil, nil, false) }
        return (inlineRoutePath, inlineRoute)
    }
}

extension WorkoutRoute {
    mutating func append(
        time: Instant, latitude: Double, longitude: Double, elevation: Double?, speed: Double?, course: Double?,
        horizontalAccuracy: Double?, verticalAccuracy: Double?
    ) {
        self.time.append(time)
        self.latitude.append(latitude)
        self.longitude.append(longitude)
        self.elevation.append(elevation ?? .nan)
        self.speed.append(speed ?? .nan)
        self.course.append(course ?? .nan)
        self.horizontalAccuracy.append(horizontalAccuracy ?? .nan)
        self.verticalAccuracy.append(verticalAccuracy ?? .nan)
    }
}

/// The common form of a route's path, whether given by the workout that refers to it or by the archive.
enum RouteName {
    static func normal(_ path: String) -> String {
        "/workout-routes/" + (path.split(separator: "/").last.map { String($0) } ?? path)
    }
}
