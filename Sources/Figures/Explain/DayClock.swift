import Foundation
import HealthModel
import Terminal

/// Times on one day, as the local clock showed them.
struct DayClock {
    let zones: ZoneTimeline
    let day: LocalDay
    /// On a day when the clock changes, a time without an offset may occur twice.
    private let showsOffset: Bool
    /// Whether each time is shown with its date and offset.
    private var isInFull = false

    init(_ zones: ZoneTimeline, _ day: LocalDay) {
        (self.zones, self.day) = (zones, day)
        let edges = zones.ranges(of: day).flatMap { [$0.lowerBound, $0.upperBound - .microseconds(1)] }
        showsOffset = Set(edges.map { Self.offset(zones, $0) }).count > 1
    }

    /// The same clock for output on this terminal: if it is a pipe, times are in full.
    func shown(on terminal: Terminal) -> DayClock {
        var clock = self
        clock.isInFull = !terminal.isTerminal
        return clock
    }

    /// "08:15:00", preceded by the date if it is a different day, and followed by the offset from UTC if the clock
    /// changed.
    func time(_ instant: Instant) -> String {
        if isInFull { return zones.localText(of: instant) }
        let offset = Self.offset(zones, instant)
        let local = InstantText.iso8601(Instant(seconds: instant.flooredSecond + Int64(offset)))
        let clock = local.split(separator: "T").last.map { String($0.prefix(8)) } ?? ""
        let date = zones.day(of: instant)
        return (date == day ? "" : "\(date) ") + clock + (showsOffset ? Self.text(offset) : "")
    }

    /// The end of a range: midnight is shown as the end of the day.
    func end(_ instant: Instant) -> String {
        if isInFull { return time(instant) }
        let isEdge = zones.ranges(of: day).contains { $0.upperBound == instant }
        return isEdge && time(instant).hasPrefix("\(zones.day(of: instant)) 00:00:00") ? "24:00:00" : time(instant)
    }

    /// "Europe/Berlin", or all of the zones on a day that has several.
    var zoneNames: String {
        var names: [String] = []
        for range in zones.ranges(of: day) {
            for instant in [range.lowerBound, range.upperBound - .microseconds(1)]
            where names.last != zones.zone(at: instant) {
                names.append(zones.zone(at: instant))
            }
        }
        return names.joined(separator: ", ")
    }

    private static func offset(_ zones: ZoneTimeline, _ instant: Instant) -> Int {
        TimeZone(identifier: zones.zone(at: instant))?
            .secondsFromGMT(for: Date(timeIntervalSince1970: instant.secondsSince1970)) ?? 0
    }

    /// "+02:00".
    private static func text(_ offset: Int) -> String {
        let minutes = abs(offset) / 60
        return (offset < 0 ? "-" : "+") + String(format: "%02d:%02d", minutes / 60, minutes % 60)
    }
}
