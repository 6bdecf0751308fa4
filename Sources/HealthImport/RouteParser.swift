import CXMLStream
import HealthModel
import JSON

/// Reads the track points of a GPX 1.1 file; exports have one for each workout's route.
final class RouteParser {
    private enum Element: Int32, CaseIterable {
        case trkpt, ele, time, speed, course, hAcc, vAcc
        static let names = allCases.map { "\($0)" }.joined(separator: " ")
    }

    private let deliver: (WorkoutRoute) throws -> Void
    private var route: WorkoutRoute
    private(set) var unreadablePoints = 0
    private(set) var replacedCharacters: Int64 = 0
    private var failure: (any Error)?
    private var stream: XMLStream?

    // The current point.
    private var isInPoint = false
    /// Whether part of the point is lost.
    private var isTorn = false
    private var position: (latitude: Double, longitude: Double)?
    // By element; NaN while there is none.
    private var numbers = [Double](repeating: .nan, count: Element.allCases.count)
    private var time: Instant?
    private var text: [UInt8] = []
    private var collected: Element?

    /// - Parameter deliver: receives the points, in parts of at most `WorkoutRoute.pointLimit`.
    init(path: String, workout: WorkoutRoute.Workout?, deliver: @escaping (WorkoutRoute) throws -> Void) {
        route = WorkoutRoute(path: path, workout: workout)
        self.deliver = deliver
    }

    /// Returns what is wrong with the file's form, or nil; all intact points have been delivered, even those after the
    /// fault.
    func parse(_ source: any ByteSource, entry: String) throws -> Damage? {
        let stream = try XMLStream(
            root: "gpx", elements: Element.names, attributes: "lat lon",
            callbacks: healthbus_xml_callbacks(
                start: { context, element in RouteParser.from(context)?.start(element) },
                end: { context, code, _, _ in RouteParser.from(context)?.end(Element(rawValue: code)) },
                text: { context, bytes, length in
                    let raw = UnsafeRawBufferPointer(start: bytes, count: Int(length))
                    RouteParser.from(context)?.append(raw)
                }, stray: nil),
            context: Unmanaged.passUnretained(self).toOpaque())
        self.stream = stream
        defer { self.stream = nil }
        let block = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: CleanReader.blockSize)
        defer { block.deallocate() }
        var reader = CleanReader(source)
        var archiveDamage: String?
        do {
            while case let count = try reader.read(into: block), count > 0 {
                if !stream.feed(UnsafeBufferPointer(rebasing: block[..<count])) { break }
            }
        } catch let damage as ArchiveDamage {
            archiveDamage = "the archive ends early or is damaged (\(damage.reason))"
        }
        stream.finish()
        replacedCharacters = reader.replaced + stream.damage.dropped
        let damage = damage(of: stream, entry: entry, archiveDamage: archiveDamage)
        route.isLast = damage == nil
        if failure == nil, route.count > 0 { try deliver(route) }
        if let failure { throw failure }
        return damage
    }

    private func damage(of stream: XMLStream, entry: String, archiveDamage: String?) -> Damage? {
        if let archiveDamage { return Damage(what: archiveDamage, entry: entry, line: stream.line) }
        guard stream.damage.errors > 0 || !stream.isComplete else { return nil }
        return Damage(what: "the route isn't a whole GPX document", entry: entry, line: stream.line)
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> RouteParser? {
        context.map { Unmanaged<RouteParser>.fromOpaque($0).takeUnretainedValue() }
    }

    private func start(_ element: UnsafePointer<healthbus_xml_element>) {
        let code = Element(rawValue: element.pointee.code)
        defer { if element.pointee.malformed { isTorn = true } }
        if code == .trkpt {
            isInPoint = true
            isTorn = false
            for index in numbers.indices { numbers[index] = .nan }
            time = nil
            position = nil
            if element.pointee.present == 3,
                let latitude = DecimalText.parse(element.pointee.attributes[0].buffer),
                let longitude = DecimalText.parse(element.pointee.attributes[1].buffer)
            {
                position = (latitude, longitude)
            }
        } else if isInPoint, let code {
            collected = code
            text.removeAll(keepingCapacity: true)
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) {
        if bytes.contains(where: { $0 < 2 }) { isTorn = true }
        // No number or date is longer.
        if collected != nil, text.count + bytes.count <= 64 { text.append(contentsOf: bytes) }
    }

    private func end(_ code: Element?) {
        if code == .trkpt { return endPoint() }
        guard let code, code == collected else { return }
        collected = nil
        text.withUnsafeBufferPointer { text in
            if code == .time {
                time = InstantText.parse(text)
            } else {
                numbers[Int(code.rawValue)] = DecimalText.parse(text) ?? .nan
            }
        }
    }

    private func endPoint() {
        isInPoint = false
        guard let time, let position, !isTorn else {
            unreadablePoints += 1
            return
        }
        if route.count == WorkoutRoute.pointLimit {
            do { try deliver(route) } catch {
                failure = error
                stream?.stop()
                return
            }
            route = route.next
        }
        func number(_ element: Element) -> Double { numbers[Int(element.rawValue)] }
        route.append(
            time: time, latitude: position.latitude, longitude: position.longitude, elevation: number(.ele),
            speed: number(.speed), course: number(.course), horizontalAccuracy: number(.hAcc),
            verticalAccuracy: number(.vAcc))
    }
}
