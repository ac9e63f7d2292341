"use strict";
(function () {
  var steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  document.querySelectorAll("figure").forEach(function (figure) {
    var readout = figure.querySelector(".readout");
    var points = Array.prototype.slice.call(figure.querySelectorAll(".point"));
    function show(point) {
      readout.textContent = point.getAttribute("data-words");
      points.forEach(function (other) {
        other.classList.toggle("on", other === point);
        other.setAttribute("tabindex", other === point ? "0" : "-1");
      });
    }
    function nearest(event) {
      var best = null, least = 48;
      points.forEach(function (point) {
        var box = point.getBoundingClientRect();
        var far = Math.hypot(event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2);
        if (far < least) {
          least = far;
          best = point;
        }
      });
      if (best) show(best);
    }
    if (points.length) {
      figure.querySelector(".layers").addEventListener("pointermove", nearest);
      figure.querySelector(".layers").addEventListener("pointerdown", nearest);
    }
    points.forEach(function (point, place) {
      point.setAttribute("tabindex", place === 0 ? "0" : "-1");
      point.addEventListener("focus", function () { show(point); });
      point.addEventListener("keydown", function (event) {
        var next = event.key === "Home" ? points[0] : event.key === "End" ? points[points.length - 1]
          : points[place + (steps[event.key] || 0)];
        if (next && next !== point) {
          event.preventDefault();
          next.focus();
        }
      });
    });
  });
  function settle() {
    document.querySelectorAll(".scroll").forEach(function (box) {
      if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
    });
  }
  settle();
  window.addEventListener("resize", settle);
  document.querySelectorAll("details").forEach(function (one) { one.addEventListener("toggle", settle); });
})();
