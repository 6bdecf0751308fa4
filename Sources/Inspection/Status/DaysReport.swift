import Changelog
import Console
import Foundation
import HealthModel
import PluginKit

/// `healthbus days`: the daily summaries, in full for programs and rounded for people.
package struct DaysReport {
    /// Members that every day has; absent is null.
    static let members = [
        "user", "date", "zone", "final", "missing", "revision", "steps", "distanceMeters", "flightsClimbed",
        "activeEnergyKilocalories", "basalEnergyKilocalories", "exerciseMinutes", "moveMinutes", "standMinutes",
        "standHours", "heartRate", "hrvSDNNMilliseconds", "sleep", "naps", "workouts", "bodyMassKilograms",
        "bodyMassMeanKilograms", "heightMeters", "heightMeanMeters", "bodyMassIndex", "bodyMassIndexMean",
        "bodyFatFraction", "bodyFatMeanFraction", "other",
    ]

    /// By date.
    package let days: [Value]

    /// - Parameters:
    ///   - last: only so many of the newest days.
    package init(
        _ reader: StackReader, consolidator: StackConfiguration.Instance, user: String?, from: LocalDay?, to: LocalDay?,
        last: Int? = nil
    ) throws {
        var days: [(key: String, day: Value)] = []
        for row in try reader.rows(consolidator, topic: "daily.summary") {
            guard let number = row.day, var members = row.body?.object, user == nil || row.user == user else {
                continue
            }
            let day = LocalDay(number: number)
            guard from.map({ day >= $0 }) ?? true, to.map({ day <= $0 }) ?? true else { continue }
            for name in Self.members where members[name] == nil { members[name] = .null }
            // A list is never null: a day without workouts has none.
            for name in ["naps", "workouts"] where members[name] == .null { members[name] = [] }
            if members["other"] == .null { members["other"] = [:] }
            days.append(("\(day) \(row.user)", .object(members)))
        }
        let sorted = days.sorted { $0.key < $1.key }.map(\.day)
        self.days = last.map { Array(sorted.suffix($0)) } ?? sorted
    }

    package var json: String { Value.array(days).json(pretty: true) }

    /// A table for eyes; an empty cell is no data. A narrow screen gets fewer columns.
    package func table(for terminal: Terminal) -> String {
        let users = Set(days.compactMap { $0["user"].string })
        var table = Table(
            (users.count > 1 ? [.init("User")] : []) + [
                .init("Date"), .number("Steps"), .number("km", givesWay: 8), .number("Floors", givesWay: 1),
                .number("Active kcal"), .number("Basal kcal", givesWay: 2), .number("Exercise", givesWay: 6),
                .number("Stand", givesWay: 3), .number("HR avg", givesWay: 7), .number("Rest HR", givesWay: 9),
                .number("HRV", givesWay: 4), .number("Asleep"), .init("Workouts"), .number("kg", givesWay: 5),
                .init("State"),
            ])
        for day in days {
            let number = { (value: Value, digits: Int) in value.double.map { Self.text($0, digits) } ?? "" }
            let asleep = day["sleep"]["asleepMinutes"].double.map { Self.hours($0) } ?? ""
            let workouts = (day["workouts"].array ?? []).map { workout in
                let minutes = workout["durationSeconds"].double.map { " \(Self.text($0 / 60, 0)) min" } ?? ""
                return (workout["activity"].string ?? "other") + minutes
            }
            table.add(
                (users.count > 1 ? [day["user"].string ?? ""] : []) + [
                    day["date"].string ?? "", number(day["steps"], 0),
                    day["distanceMeters"].double.map { Self.text($0 / 1000, 1) } ?? "",
                    number(day["flightsClimbed"], 0),
                    number(day["activeEnergyKilocalories"], 0), number(day["basalEnergyKilocalories"], 0),
                    day["exerciseMinutes"].double.map { "\(Self.text($0, 0)) min" } ?? "",
                    day["standHours"].double.map { "\(Self.text($0, 0)) h" } ?? "",
                    number(day["heartRate"]["average"], 0),
                    number(day["heartRate"]["resting"], 0), number(day["hrvSDNNMilliseconds"], 0), asleep,
                    workouts.joined(separator: ", "), number(day["bodyMassKilograms"], 1), Self.state(day),
                ])
        }
        return table.render(for: terminal)
    }

    private static func state(_ day: Value) -> String {
        let missing = (day["missing"].array ?? []).compactMap(\.string)
        if !missing.isEmpty { return "waits for \(missing.joined(separator: ", "))" }
        guard day["final"].bool == true else { return "so far" }
        let revision = day["revision"].int ?? 0
        return revision > 1 ? "final, revision \(revision)" : "final"
    }

    private static func text(_ number: Double, _ digits: Int) -> String {
        digits == 0 ? HumanFormat.count(Int(number.rounded())) : String(format: "%.\(digits)f", number)
    }

    private static func hours(_ minutes: Double) -> String {
        let whole = Int(minutes.rounded())
        return "\(whole / 60):" + String(format: "%02d", whole % 60)
    }
}
