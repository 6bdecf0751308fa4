import Foundation
import HealthModel

/// The lines of a program's answer to `hello` or for a day, read one by one.
package struct ExecAnswer {
    /// Deeper than any figure needs, but not as deep as the bus allows.
    private static let maximumDepth = 16
    private static let longestReason = 500

    /// Besides the user and the day, a line has one of these members.
    private struct Line: Codable {
        @IfReadable var user: String?
        @IfReadable var date: String?
        /// The day that the program has finished.
        @IfReadable var done: String?
        @IfReadable var error: String?
        @IfReadable var figures: [String: Value]?
        @IfReadable var hourly: [String: Value]?
        @IfReadable var event: [String: Value]?
    }

    private struct Event: Codable {
        var id: String
        var kind: String
        var payload: Value
    }

    private let user: String
    private let date: String
    package private(set) var output = DayOutput()
    private var events: Set<String> = []
    private(set) var lines = 0

    package init(user: String, day: LocalDay) {
        self.user = user
        date = day.description
    }

    /// Reads one line without its newline; returns true when it was the last one.
    package mutating func take(_ line: some Collection<UInt8>) throws(ExecFailure) -> Bool {
        lines += 1
        let value = try Self.read(line, number: lines)
        guard let line = value.read(Line.self), line.user == user else {
            throw refuse("has no 'user', or not the day's")
        }
        if let done = line.done {
            guard done == date else {
                throw refuse("says it is done with another day, not the one it was asked for")
            }
            try check(value, has: "done", beside: "user")
            return true
        }
        guard line.date == date else { throw refuse("has no 'date', or not the day's") }
        if let figures = line.figures {
            try check(value, has: "figures", beside: "user", "date")
            guard output.figures.isEmpty else { throw refuse("gives figures a second time") }
            output.figures = figures
        } else if let hourly = line.hourly {
            try check(value, has: "hourly", beside: "user", "date")
            guard output.hourly.isEmpty else { throw refuse("gives hourly figures a second time") }
            output.hourly = hourly
        } else if let event = line.event {
            try check(value, has: "event", beside: "user", "date")
            output.events.append(try self.event(event))
        } else {
            throw refuse("holds none of figures, hourly and event (objects), done and error (texts)")
        }
        return false
    }

    private mutating func event(_ members: [String: Value]) throws(ExecFailure) -> DayEvent {
        guard let event = Value.object(members).read(Event.self), (1...200).contains(event.id.utf8.count),
            !event.kind.isEmpty, event.payload.object != nil, members.count == 3
        else {
            throw refuse("has an event without a text 'id' (1 to 200 bytes), a text 'kind' and an object 'payload'")
        }
        guard events.insert(event.id).inserted else { throw refuse("has an event whose id came before") }
        return DayEvent(id: event.id, kind: event.kind, payload: event.payload)
    }

    /// A member that isn't read is an error, rather than silently ignored.
    private func check(_ value: Value, has member: String, beside others: String...) throws(ExecFailure) {
        guard value.object?.count == others.count + 1 else {
            throw refuse("holds more than '\(member)', " + others.map { "'\($0)'" }.joined(separator: " and "))
        }
    }

    private func refuse(_ why: String) -> ExecFailure { .badLine(lines, why) }

    /// A JSON object; one with `error` is the program's own statement that it can't continue.
    package static func read(_ line: some Collection<UInt8>, number: Int) throws(ExecFailure) -> Value {
        guard depth(of: line) <= maximumDepth else { throw .badLine(number, "is nested deeper than \(maximumDepth)") }
        let value: Value
        do { value = try Value(json: line) } catch {
            // The parser's own message may quote a number.
            let text = String(decoding: line, as: UTF8.self)
            let isNumber = text.contains("NaN") || text.contains("Infinity")
            throw .badLine(
                number,
                isNumber
                    ? "isn't JSON: it holds NaN or Infinity; leave out members without a number"
                    : "isn't JSON (write nothing else to standard output; logs go to standard error)")
        }
        guard value.object != nil else { throw .badLine(number, "isn't an object") }
        if let error = value.read(Line.self)?.error { throw .declined(String(error.prefix(longestReason))) }
        return value
    }

    /// How deeply brackets nest, determined before anything is built from them.
    private static func depth(of line: some Collection<UInt8>) -> Int {
        var (depth, deepest, isText, isEscaped) = (0, 0, false, false)
        for byte in line {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return deepest
    }
}
