import Configuration
import DeliveryKit
import Foundation
import HealthModel
import TestSupport
import Testing
import UploaderReading

/// Tests which secret goes to which destination.
@Suite struct DestinationTokenTests {
    private static let own = "the-stack's-own"
    private static let others = "another-server's"

    /// The token that would be sent to each destination over HTTP; nil if the destination has none.
    private func tokens(_ instances: String, environment: [String: String] = [:]) throws -> [String: String] {
        let folder = try TemporaryFolder()
        let state = StateFolder(path: folder.path + "/s")
        for path in [state.path, state.secrets] { try StateFolder.make(path) }
        try Self.own.write(toFile: state.backendToken, atomically: true, encoding: .utf8)
        let file = try folder.file("token", Self.others)
        let text = instances.replacing("FILE", with: file)
        let configuration = try folder.file("stack.json", "{\"instances\": {\(text)}}")
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        let stack = try StackConfiguration(path: configuration, catalog: catalog)
        var found: [String: String] = [:]
        for instance in stack.deliveringToBackends {
            do {
                found[instance.name] = try DestinationToken.source(
                    of: instance, in: stack, state: state, environment: environment
                ).current(refresh: false)
            } catch let error as ConfigurationError {
                #expect("\(error)".contains("\(instance.name).configuration.tokenFile"), "\(error)")
            }
        }
        return found
    }

    /// Without a backend of its own, nothing in a stack makes the file in the state folder.
    @Test func aTokenThatNothingNamesIsMissed() throws {
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        let folder = try TemporaryFolder()
        let state = StateFolder(path: folder.path + "/s")
        func file(_ backend: String, _ options: String, _ environment: [String: String] = [:]) throws -> String? {
            let text = #"{"instances": {\#(backend)"uploader": {"configuration": {\#(options)}}}}"#
            let stack = try StackConfiguration(path: folder.file("stack.json", text), catalog: catalog)
            let uploader = try #require(stack.instance("uploader"))
            return DestinationToken.unnamedFile(of: uploader, in: stack, state: state, environment: environment)
        }
        let url = #""url": "https://h.example.org""#
        let none = #""backend": null, "#
        #expect(try file(none, url) == state.backendToken)
        #expect(try file(none, url, ["HEALTHBUS_BACKEND_TOKEN": "e"]) == nil)
        #expect(try file(none, url + #", "tokenFile": "/nowhere""#) == nil)
        #expect(try file(none, url + #", "tokenCommand": ["/bin/true"]"#) == nil)
        #expect(try file(none, url + #", "token": "none""#) == nil)
        #expect(try file("", url) == nil)
    }

    @Test func theOnlyOneGetsWhatItAlwaysGot() throws {
        #expect(try tokens("") == ["uploader": Self.own])
        #expect(try tokens("", environment: ["HEALTHBUS_BACKEND_TOKEN": "e"]) == ["uploader": "e"])
        let elsewhere = #""uploader": {"configuration": {"url": "https://h.example.org", "tokenFile": "FILE"}}"#
        #expect(try tokens(elsewhere) == ["uploader": Self.others])
        #expect(try tokens(elsewhere, environment: ["HEALTHBUS_BACKEND_TOKEN": "e"]) == ["uploader": "e"])
        // Not even the token from the environment is sent to a server that asks for none.
        let open = #""uploader": {"configuration": {"url": "https://h.example.org", "token": "none"}}"#
        #expect(try tokens(open, environment: ["HEALTHBUS_BACKEND_TOKEN": "e"]) == [:])
        // File destinations need no token, and make no difference.
        #expect(
            try tokens(#""files": {"plugin": "files"}"#, environment: ["HEALTHBUS_BACKEND_TOKEN": "e"]) == [
                "uploader": "e"
            ])
    }

    @Test func ofSeveralTheStacksOwnSecretsGoToItsOwnBackendAlone() throws {
        let mine =
            #""mine": {"plugin": "uploader", "configuration": {"url": "https://h.example.org", "tokenFile": "FILE"}}"#
        #expect(try tokens(mine) == ["uploader": Self.own, "mine": Self.others])
        #expect(
            try tokens(mine, environment: ["HEALTHBUS_BACKEND_TOKEN": "e"]) == ["uploader": "e", "mine": Self.others])
        let none =
            #""mine": {"plugin": "uploader", "configuration": {"url": "https://h.example.org", "token": "none"}}"#
        #expect(try tokens(none) == ["uploader": Self.own])
        let without = #""mine": {"plugin": "uploader", "configuration": {"url": "https://h.example.org"}}"#
        #expect(try tokens(without, environment: ["HEALTHBUS_BACKEND_TOKEN": "e"]) == ["uploader": "e"])
    }
}
