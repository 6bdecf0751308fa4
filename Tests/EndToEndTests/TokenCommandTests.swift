import Configuration
import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Tokens from the command line, with a stack or without one.
    @Suite struct TokenCommandTests {
        private func tokens(_ stack: TestStack) async throws -> [Value] {
            try await stack.onState("token", "list", "--json").json()["tokens"].array ?? []
        }

        @Test func aTokenIsMadeShownAndTakenBack() async throws {
            try await withStack { stack in
                let made = try await stack.onState("token", "new", "--user", "anna", "--device", "Anna's phone")
                #expect(made.exit == .code(0), "\(made.error)")
                // Only the secret goes to standard output, for a script; the rest is for people.
                let secret = made.output.trimmingCharacters(in: .newlines)
                #expect(TokenSecret(secret) != nil && !made.error.contains(secret))
                let json = try await stack.onState("token", "new", "--scope", "read", "--days", "2", "--json").json()
                #expect(json["scope"] == "read" && json["user"] == "me" && json["ends"].string != nil)
                #expect(json["token"].string.flatMap { TokenSecret($0) } != nil && json["device"] == "phone")

                let list = try await stack.onState("token", "list")
                #expect(list.output.contains("Anna's phone") && !list.output.contains("hbt_"))
                let listed = try await tokens(stack)
                #expect(listed.map { $0["state"] } == ["valid", "valid"] && listed[1]["id"] == json["id"])
                #expect(listed.allSatisfy { $0["token"].isNull && $0["sha256"].isNull })
                let names = try await stack.onState("completions", "tokens").output
                #expect(names.split(separator: "\n").map(String.init) == listed.compactMap { $0["id"].string })

                let gate = TokenGate(TokenFile(StateFolder(path: stack.state)))
                func answer() throws -> TokenAnswer { try gate.answer(to: secret, now: .epoch, at: .distantPast) }
                let id = try #require(listed[0]["id"].string)
                #expect(
                    try answer()
                        == .granted(TokenGrant(id: id, user: "anna", device: "Anna's phone", scopes: [.ingest])))
                let revoked = try await stack.onState("token", "revoke", "Anna's phone", "--json")
                #expect(try revoked.json()["state"] == "revoked" && revoked.json()["id"].string == id)
                // The running gate has only just read the tokens, so it doesn't see the change until it reads them
                // again.
                #expect(try gate.answer(to: secret, now: .epoch, at: .distantPast + .seconds(1)) == .revoked)
                #expect(try await stack.onState("token", "revoke", id).exit == .code(0))
                let unknown = try await stack.onState("token", "revoke", "nobody")
                #expect(unknown.exit == .code(1) && unknown.error.contains("healthbus token list --state"))
            }
        }

        @Test func processesAtOnceLoseNothing() async throws {
            try await withStack { stack in
                var runs: [Command] = []
                for number in 0..<8 {
                    runs.append(
                        try await stack.start([
                            "token", "new", "--device", "d\(number)", "--json", "--state", stack.state,
                        ]))
                }
                var ids: Set<String> = []
                for run in runs { ids.insert(try await run.ended().json()["id"].string ?? "") }
                let listed = try await tokens(stack)
                #expect(ids.count == 8 && Set(listed.compactMap { $0["id"].string }) == ids)
            }
        }

        @Test(arguments: [
            (["new", "x"], "takes no name"), (["list", "--user", "a"], "doesn't take --user"),
            (["revoke"], "token's id"),
            (["remove", "x"], "did you mean revoke?"), (["new", "--scope", "all"], "ingest, read, admin"),
            (["new", "--ends", "soon"], "2027-12-31"), (["new", "--ends", "2020-01-01"], "later --ends"),
            (["new", "--days", "1", "--ends", "2090-01-01"], "only one"), (["new", "--days", "0"], "whole number"),
            (["new", "--user", ""], "1 to 100 bytes"),
        ])
        func whatIsMistypedIsSaid(_ words: [String], _ said: String) async throws {
            try await withStack { stack in
                let ended = try await stack.start(["token"] + words + ["--state", stack.state]).ended()
                #expect(ended.exit == .code(2) && ended.error.contains(said), "\(ended.error)")
                #expect(!FileManager.default.fileExists(atPath: stack.state + "/secrets/tokens.json"))
            }
        }
    }

    /// What is shown to a person pairing a phone.
    @Suite struct PairCommandTests {
        @Test func aPhoneIsTakenIn() async throws {
            try await withStack { stack in
                let pair = try await stack.onState(
                    "pair", "--address", "https://health.example.org", "--user", "anna", "--json")
                let value = try pair.json()
                #expect(value["address"] == "https://health.example.org" && value["user"] == "anna")
                #expect(pair.exit == .code(0) && !pair.error.contains("no phone can"))
                let secret = try #require(value["token"].string.flatMap { TokenSecret($0) })
                let gate = TokenGate(TokenFile(StateFolder(path: stack.state)))
                guard case .granted(let grant) = try gate.answer(to: secret.text, now: .epoch, at: .distantPast) else {
                    Issue.record("it isn't let in")
                    return
                }
                #expect(grant.user == "anna" && grant.device == "phone" && grant.scopes == [.ingest])
            }
        }

        @Test func aPipeGetsCodesOnlyWhereTheyAreAskedFor() async throws {
            try await withStack { stack in
                let plain = try await stack.onState("pair", "--address", "https://health.example.org")
                #expect(plain.output.contains("com.HealthExport://automation") && !plain.output.contains("█"))
                let coded = try await stack.onState("pair", "--address", "https://health.example.org", "--qr")
                #expect(coded.output.contains("█") && !coded.output.contains("com.HealthExport"))
                for said in [plain, coded] { #expect(!said.output.contains("\u{1B}")) }
            }
        }

        @Test func whatNoPhoneReachesIsSaid() async throws {
            try await withStack { stack in
                let pair = try await stack.onState("pair", environment: ["HEALTHBUS_INGEST_PORT": "18788"])
                #expect(pair.exit == .code(0) && pair.output.contains("http://127.0.0.1:18788/v1/health-auto-export"))
                #expect(pair.error.contains("no phone can") && pair.error.contains("--address"), "\(pair.error)")
                let wrong = try await stack.onState("pair", "--address", "health.example.org")
                #expect(wrong.exit == .code(2) && wrong.error.contains("https://health.example.org"))
                let any = try await stack.onState("pair", environment: ["HEALTHBUS_INGEST_PORT": "0"])
                #expect(any.exit == .code(2) && any.error.contains("--address"))
                // No token is created without being shown.
                let tokens = try await stack.onState("token", "list", "--json").json()["tokens"].array
                #expect(tokens?.count == 1)
            }
        }

        @Test func aStackThatTakesNothingSaysSo() async throws {
            try await withStack { stack in
                let config = try stack.write("config.json", #"{ "instances": { "ingest": null } }"#)
                let pair = try await stack.onState("pair", "--address", "https://h.example.org", "--config", config)
                #expect(pair.exit == .code(0) && pair.error.contains("has no instance 'ingest'"), "\(pair.error)")
            }
        }
    }
}
