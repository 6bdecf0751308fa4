import BackgroundDelivery
import Client
import Foundation
import HealthModel
import Logging
import Protocol

/// Sets the phone's state and the types to observe on a running observer. Each command is repeated until its effect is
/// seen.
package final class DeliveryCommands {
    private let client: StackClient
    private let observer: String
    private let hub: String

    package init(client: StackClient, observer: String, hub: String = "hub") {
        (self.client, self.observer, self.hub) = (client, observer, hub)
    }

    /// Sets members of the device's state, and returns the resulting state.
    /// - Parameter members: the members by their names in `DeviceState`; nil resets everything to the state without a
    ///   phone.
    /// - Throws: `Failure` when the observer doesn't answer within `seconds`.
    package func setDevice(_ members: [String: Value]?, within seconds: Double = 10) throws -> DeviceState {
        let new = Value.object(members ?? Value(DeviceState()).object ?? [:])
        return try repeating(ChangeDevice(set: new).body, within: seconds) { saved in
            let state = saved.device
            guard state.updated(from: new) == state else {
                return nil
            }
            return state
        }
    }

    /// Switches a type.
    package func setType(_ type: String, _ setting: SwitchTypes.Setting, within seconds: Double = 10) throws {
        try repeating(SwitchTypes(set: [type: setting]).body, within: seconds) { saved -> Void? in
            let table = saved.registrations
            if let isOn = setting.on, (table.off ?? []).contains(type) == isOn { return nil }
            if let isDenied = setting.denied, (table.denied ?? []).contains(type) != isDenied { return nil }
            if let frequency = setting.frequency,
                table.frequencies?[type] != (frequency == SwitchTypes.appsFrequency ? nil : frequency)
            {
                return nil
            }
            return ()
        }
    }

    private func repeating<Result>(
        _ command: [String: Value], within seconds: Double, _ effect: (DeliveryPage) -> Result?
    ) throws -> Result {
        let wait = AnswerWait(client, for: observer, hub: hub)
        try wait.untilHeard()
        let result = try client.give(command, to: observer, within: seconds, meanwhile: wait.look) {
            let saved = try client.ask(observer, .delivery, within: 0.3)?.first
            return saved.flatMap { effect($0.content) }
        }
        if let result { return result }
        throw wait.failure(
            else: Failure(
                "'\(observer)' hasn't done it", hint: "'healthbus doctor' says why; it is safe to repeat"))
    }
}

extension DeviceState {
    /// Reads members, each typed as one word: `locked=true`, `app=background`, `network=wifi` (or `none`, or
    /// `unknown`).
    /// - Throws: `Failure` (usage) that names the member and what is allowed.
    package static func members(_ words: [String]) throws(Failure) -> [String: Value] {
        var members: [String: Value] = [:]
        let all = Value(DeviceState()).object ?? [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                throw .usage("\(word) isn't KEY=VALUE", hint: "as in locked=true or app=background")
            }
            guard let old = all[parts[0]] else {
                throw .usage(
                    "the device has no \(parts[0])",
                    hint: Nearest.hint(for: parts[0], among: all.keys.sorted(), quoted: false))
            }
            guard let value = value(parts[1], of: parts[0], like: old),
                DeviceState().updated(from: [parts[0]: value]) != nil
            else {
                throw .usage("\(parts[0]) can't be \(parts[1])", hint: allowed(parts[0]))
            }
            members[parts[0]] = value
        }
        return members
    }

    private static func value(_ text: String, of member: String, like old: Value) -> Value? {
        switch member {
        case "network":
            if text == "unknown" { return .null }
            if text == "none" { return Value(NetworkPath(isSatisfied: false, interface: nil)) }
            return NetworkPath.Interface(rawValue: text).map {
                Value(NetworkPath(isSatisfied: true, interface: $0))
            }
        case "battery": return Double(text).map { .number($0) }
        case "app": return .string(text)
        default: return Bool(text).map { .bool($0) }
        }
    }

    private static func allowed(_ member: String) -> String {
        switch member {
        case "app": "one of " + AppState.allCases.map(\.rawValue).joined(separator: ", ")
        case "battery": "a number from 0 to 1"
        case "network":
            "one of \((NetworkPath.Interface.allCases.map(\.rawValue) + ["none", "unknown"]).joined(separator: ", "))"
        default: "true or false"
        }
    }

    /// The state as `device show` prints it: one member per line.
    package var text: String {
        let network = network.map { $0.isSatisfied ? $0.interface?.rawValue ?? "other" : "none" } ?? "unknown"
        return """
            app        \(app.rawValue)
            locked     \(isLocked)
            charging   \(isCharging)
            battery    \(batteryLevel)
            lowPower   \(isLowPowerMode)
            sleepMode  \(isSleepMode)
            deferring  \(isDeferring)
            network    \(network)

            """
    }
}
