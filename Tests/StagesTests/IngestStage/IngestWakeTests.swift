import HTTP
import HealthModel
import IngestStage
import Protocol
import TestSupport
import Testing

/// What a program that wakes the stack is answered.
@Suite struct IngestWakeTests {
    @Test func wakingHasTheStackLook() throws {
        let rig = try IngestRig()
        let answer = try rig.send("POST", "/v1/wake")
        #expect(answer.status == 202 && answer.text == "{\"woken\":true}")
        #expect(rig.woken.map(\.sender) == ["1"])
        // What a push carries is sent too by some; nothing depends on it.
        let push = #"{"aps": {"content-available": 1, "sound": ""}, "any": "value"}"#
        #expect(try rig.send("POST", "/v1/wake", body: push).text == answer.text && rig.woken.count == 2)
        #expect(try rig.send("GET", "/v1/wake").status == 405 && rig.woken.count == 2)
    }

    /// The debouncer counts; here its answers are given.
    @Test func aWakeIsAnsweredWithWhatBecameOfIt() throws {
        let rig = try IngestRig()
        for result in DebouncerDetails.Wake.Result.allCases {
            rig.wakeAnswer = { .init(id: $0.id, woken: true, problem: result == .failed ? "why" : nil, result: result) }
            let answer = try rig.send("POST", "/v1/wake?wait=25")
            let reason = result == .failed ? ",\"reason\":\"why\"" : ""
            #expect(answer.status == 200 && answer.text == "{\"woken\":true,\"result\":\"\(result)\"\(reason)}")
        }
        rig.wakeAnswer = { .init(id: $0.id, problem: "it is locked", result: .failed) }
        for path in ["/v1/wake", "/v1/wake?wait=25"] {
            let answer = try rig.send("POST", path)
            #expect(answer.status == 200)
            #expect(answer.text == "{\"woken\":false,\"result\":\"failed\",\"reason\":\"it is locked\"}")
        }
        rig.wakeAnswer = { .init(id: $0.id, next: Instant(seconds: 1_743_069_600 + 1799)) }
        for path in ["/v1/wake", "/v1/wake?wait=25"] {
            let answer = try rig.send("POST", path)
            #expect(answer.status == 429 && answer.headers["Retry-After"] == "1799")
            #expect(answer.text.contains("\"wakes-used-up\""))
        }
        for wait in ["31", "-1", "soon", "1.5"] {
            #expect(try rig.send("POST", "/v1/wake?wait=\(wait)").status == 422)
        }
    }

    /// A sync that takes longer than the caller waits has failed for the caller, as an app whose time is over has.
    @Test func aWakeThatTakesTooLongHasFailed() throws {
        let rig = try IngestRig()
        let answer = try rig.send("POST", "/v1/wake?wait=1")
        #expect(answer.status == 200 && answer.text.contains("\"woken\":true,\"result\":\"failed\""))
        // Said again all the while, under one id, since a debouncer may restart.
        #expect(rig.woken.count > 1 && Set(rig.woken.map(\.id)).count == 1)
    }

    @Test func aWakeIsSaidAgainUntilTheDebouncerHearsIt() throws {
        let rig = try IngestRig()
        rig.wakeAnswer = { [weak rig] wake in
            (rig?.woken.count ?? 0) < 4 ? nil : .init(id: wake.id, woken: true)
        }
        #expect(try rig.send("POST", "/v1/wake").status == 202)
        #expect(rig.woken.count == 4 && Set(rig.woken.map(\.id)).count == 1)
        rig.wakeAnswer = nil
        let answer = try rig.send("POST", "/v1/wake")
        #expect(answer.status == 503 && answer.text.contains("\"debouncer-silent\""))
    }
}
