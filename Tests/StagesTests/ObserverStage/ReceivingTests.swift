import Client
import Foundation
import HealthModel
import ObserverStage
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing

/// Files that the observer can't open in place arrive complete and only once, whatever happens on the way.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct ReceivingTests {
    private let id = "a0000000-1"
    private let here = "client-1"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String, bytes: Int, seed: UInt64 = 7) throws -> (OfferedFile, Data) {
        var random = SeededRandom(seed: seed)
        let data = Data((0..<bytes).map { _ in UInt8.random(in: 0...255, using: &random) })
        let path = folder.path + "/" + name
        try data.write(to: URL(fileURLWithPath: path))
        return (try OfferedFile(path), data)
    }

    /// A path that doesn't exist where the observer is running.
    private static let elsewhere: [String: Value] = ["path": "/nowhere/export.zip"]

    private func passUntil(_ transfer: Transfer, _ limit: Int = 4000, _ isDone: () throws -> Bool) throws {
        for _ in 0..<limit {
            if try isDone() { return }
            try transfer.pass()
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: transfer.path(""))
        Issue.record("it doesn't get that far; \(try transfer.state(id)), \(names)")
    }

    @Test(arguments: 1...6) func aBadNetworkDelaysAndNeverSpoils(_ seed: Int) throws {
        let transfer = try Transfer(seed: UInt64(seed))
        transfer.faults = .init(loss: 0.05, repeats: 0.2, reach: 1)
        let (offered, data) = try file("export.zip", bytes: 1_500_000 + seed)
        transfer.commands[here] = offered.answer
        var restarts = 0
        var since = MonotonicTime.distantPast
        try passUntil(transfer, 8000) {
            if transfer.rig.monotonic - since >= .seconds(1) {
                since = transfer.rig.monotonic
                try transfer.offer(id, offered, as: here, Self.elsewhere)
            }
            if restarts < 3, let size = transfer.size(id + ".half"), size > 400_000 * (restarts + 1) {
                restarts += 1
                try transfer.restart()
            }
            return try transfer.state(id)["state"] == "open"
        }
        #expect(restarts == 3)
        #expect(FileManager.default.contents(atPath: transfer.path(id)) == data)
        #expect(transfer.size(id + ".half") == nil)
        let rights = try FileManager.default.attributesOfItem(atPath: transfer.path(id))[.posixPermissions] as? Int
        #expect(rights == 0o600)
    }

    /// On a good network nothing is requested twice: a half-sent file is continued, even by another command.
    @Test func anotherCommandGoesOnWithTheHalf() throws {
        let transfer = try Transfer()
        let (first, data) = try file("export.zip", bytes: 2_000_000)
        transfer.commands[here] = first.answer
        try transfer.offer(id, first, as: here, Self.elsewhere)
        try passUntil(transfer) { transfer.size(id + ".half") ?? 0 > 900_000 }
        // The command dies, and is run again days later; no process is asked in between.
        transfer.commands = [:]
        for _ in 0..<20 { try transfer.pass(.seconds(1)) }
        let before = transfer.asked.count
        for _ in 0..<20 { try transfer.pass(.seconds(600)) }
        #expect(transfer.asked.count == before)
        #expect(try transfer.rig.report().details["importOpen"] == false)
        let request = try transfer.state(id)["request"]
        #expect(request["path"] == "/nowhere/export.zip" && request["sender"].isNull && request["id"].isNull)

        let sent = transfer.partsSent
        let second = try OfferedFile(folder.path + "/export.zip")
        transfer.commands["client-2"] = second.answer
        try transfer.offer(id, second, as: "client-2", Self.elsewhere)
        try passUntil(transfer) { try transfer.state(id)["state"] == "open" }
        #expect(FileManager.default.contents(atPath: transfer.path(id)) == data)
        #expect((transfer.partsSent - sent) * 61_440 < 1_300_000)
        #expect(try transfer.state(id)["request"].isNull)
    }

    @Test func whatNobodySendsAnyMoreIsRemoved() throws {
        let transfer = try Transfer()
        let (offered, _) = try file("export.zip", bytes: 2_000_000)
        transfer.commands[here] = offered.answer
        try transfer.offer(id, offered, as: here, Self.elsewhere)
        try transfer.offer("a0000000-2", nil, as: "client-2")
        transfer.commands["client-2"] = { .success([["offset": $0["offset"], "bytes": .bytes([7])]]) }
        try passUntil(transfer) {
            transfer.size(id + ".half") ?? 0 > 900_000 && transfer.size("a0000000-2.half") ?? 0 > 3
        }
        transfer.commands = [:]
        for _ in 0..<30 { try transfer.pass(.seconds(10)) }
        #expect(try transfer.state("a0000000-2")["state"] == "failed", "a pipe's bytes come only once")
        try transfer.restart()
        #expect(try transfer.state(id)["state"] == "receiving" && transfer.size(id + ".half") ?? 0 > 900_000)
        for _ in 0..<25 { try transfer.pass(.seconds(3600)) }
        #expect(try transfer.state(id)["problem"].string?.contains("wasn't sent completely") == true)
        try passUntil(transfer) { try FileManager.default.contentsOfDirectory(atPath: transfer.path("")).isEmpty }
    }

    @Test func whatArrivesSpoiltIsSentAgainAndThenRefused() throws {
        let (offered, data) = try file("export.zip", bytes: 1_000_000)
        // There are 17 parts. With 10, both attempts are corrupted: in the 10th and in the 20th part sent; with 18, at
        // most one is.
        for (every, end) in [(10, "failed"), (18, "open")] {
            let transfer = try Transfer()
            transfer.faults.spoilEvery = every
            transfer.commands[here] = offered.answer
            try transfer.offer(id, offered, as: here, Self.elsewhere)
            try passUntil(transfer) { ["failed", "open"].contains(try transfer.state(id)["state"].string ?? "") }
            #expect(try transfer.state(id)["state"].string == end)
            if end == "open" {
                #expect(FileManager.default.contents(atPath: transfer.path(id)) == data)
            } else {
                #expect(try transfer.state(id)["problem"].string?.contains("isn't what was sent") == true)
                try passUntil(transfer) {
                    try FileManager.default.contentsOfDirectory(atPath: transfer.path("")).isEmpty
                }
            }
        }
        let transfer = try Transfer()
        transfer.faults.spoilEvery = 13
        transfer.commands[here] = offered.answer
        try transfer.offer(id, offered, as: here, Self.elsewhere)
        try passUntil(transfer) { transfer.partsSent >= 17 }
        transfer.faults.spoilEvery = 0
        try passUntil(transfer) { try transfer.state(id)["state"] == "open" }
        #expect(FileManager.default.contents(atPath: transfer.path(id)) == data)
    }

    @Test func twoComeAtOnceAndAThirdWaits() throws {
        let transfer = try Transfer()
        var files: [(String, OfferedFile, Data)] = []
        for number in 1...3 {
            let (offered, data) = try file("\(number).zip", bytes: 700_000, seed: UInt64(number))
            files.append(("a0000000-\(number)", offered, data))
            transfer.commands["client-\(number)"] = offered.answer
        }
        func offerAll() throws {
            for (number, (id, offered, _)) in files.enumerated() {
                try transfer.offer(id, offered, as: "client-\(number + 1)", ["path": .string("/nowhere/\(number)")])
            }
        }
        try offerAll()
        try transfer.pass()
        try offerAll()
        try passUntil(transfer) { transfer.size("a0000000-2.half") ?? 0 > 0 }
        #expect(transfer.size("a0000000-1.half") ?? 0 > 0 && transfer.size("a0000000-3.half") == nil)
        try passUntil(transfer) {
            try offerAll()
            return try files.allSatisfy { try transfer.state($0.0)["state"] == "open" }
        }
        for (id, _, data) in files { #expect(FileManager.default.contents(atPath: transfer.path(id)) == data) }
    }

    @Test func aFileWithinReachIsTakenWhereItLies() throws {
        let transfer = try Transfer()
        let (offered, data) = try file("export.zip", bytes: 300_000)
        try transfer.offer(id, offered, as: here)
        try passUntil(transfer) { try transfer.state(id)["state"] == "open" }
        #expect(transfer.asked.isEmpty)
        #expect(FileManager.default.contents(atPath: transfer.path(id)) == data)
        // The path is the same, but the command sees a different file there.
        try Data("another".utf8).write(to: URL(fileURLWithPath: folder.path + "/export.zip"))
        try transfer.offer("a0000000-2", offered, as: here)
        try passUntil(transfer) { try transfer.state("a0000000-2")["state"] == "receiving" }
        // Without a sender to ask, there is nothing to wait for; an instance of the stack is never asked.
        for sender in [Value.null, "uploader"] {
            let name = sender.isNull ? "a0000000-3" : "a0000000-4"
            try transfer.rig.hear(
                "control.observer",
                ["command": "import", "id": .string(name), "path": "/nowhere/x.zip", "sender": sender])
            try passUntil(transfer) { try transfer.state(name)["state"] == "failed" }
            #expect(try transfer.state(name)["problem"].string?.contains("there is no file") == true)
        }
    }

    @Test func aSenderThatRefusesOrMakesNoSenseEndsIt() throws {
        let answers: [(Result<[[String: Value]], PullRefusal>, String)] = [
            (.failure(PullRefusal("the file changes")), "the file changes"),
            (.success([["offset": 5, "bytes": .bytes([1])]]), "can't be read"),
            (.success([["offset": 0, "bytes": .bytes([])]]), "can't be read"),
            (.success([["offset": 0, "bytes": .bytes([1]), "size": 7, "hash": .bytes([1])]]), "can't be read"),
        ]
        for (answer, said) in answers {
            let transfer = try Transfer()
            transfer.commands[here] = { _ in answer }
            try transfer.offer(id, nil, as: here)
            try passUntil(transfer) { try transfer.state(id)["state"] == "failed" }
            #expect(try transfer.state(id)["problem"].string?.contains(said) == true)
        }
    }
}
